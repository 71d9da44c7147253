/* program/program.c - culex_worker_main: the one place of the library that talks to a terminal. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <culex/culex.h>

#include "base/error.h"
#include "base/secret_name.h"
#include "program/variables.h"
#include "platform/cgroup.h"
#include "platform/path.h"
#include "log/log_line.h"
#include "settings/settings.h"
#include "program/signals.h"
#include "log/stderr.h"
#include "worker/manager.h"
#include "worker/setup.h"
#include "worker/worker_private.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_UNSENT = 3, EXIT_MOVED = 4, EXIT_LEFT = 5 };

/* What it was started with, and what that says now. */
struct command {
    const char *name;
    int argc;
    char **argv;
    char *config;                        /* absolute; NULL: no file */
    struct culex_settings latest, fresh; /* read again: what counts, what is looked at */
};

static const char *program_name(char **argv)
{
    const char *path = argv[0];
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    return slash != NULL ? slash + 1 : path != NULL ? path : "worker";
}

static const char *variable_get(const char *name)
{
    return getenv(name);
}

/* A worker that ends is not held up by whoever reads its log, and what it says is a line as the
 * log's are. */
static void end_tell(const char *program, const char *text)
{
    struct culex_log_line line;
    line.len = 0;
    culex__log_line_put_foreign(&line, program, 120, CULEX_LOG_TEXT);
    culex__log_line_put(&line, ": ");
    culex__log_line_put_foreign(&line, text, CULEX_LOG_TEXT_MAX, CULEX_LOG_TEXT);
    line.text[line.len++] = '\n';
    culex__stderr_write(line.text, line.len);
}

static void setup_tell(const culex_worker *worker, const char *program)
{
    char text[sizeof worker->setup_error.text + 32];
    const char *reason = worker->setup_error.text;
    snprintf(text, sizeof text, "setup failed: %s",
             reason[0] != '\0' ? reason : "it returned without a reason");
    end_tell(program, text);
}

static int failure_tell(const char *program, culex_status status, const culex_error *error)
{
    end_tell(program, error->text);
    if (status == CULEX_EUNSENT)
        return EXIT_UNSENT;
    if (status == CULEX_EMOVED)
        return EXIT_MOVED;
    if (status == CULEX_ELEFT)
        return EXIT_LEFT;
    bool is_usage = status == CULEX_EUSAGE || status == CULEX_EURL || status == CULEX_ENOKEY;
    return is_usage ? EXIT_USAGE : EXIT_FAILED;
}

static int worker_serve(culex_worker *worker, const char *program, culex_worker_setup setup,
                        void *user)
{
    culex_error error = {0};
    if (setup != NULL && setup(worker, user) != 0) {
        setup_tell(worker, program);
        return EXIT_FAILED;
    }
    culex__signals_catch(worker);
    culex__manager_set(worker, getenv("NOTIFY_SOCKET"), getenv("WATCHDOG_USEC"),
                       getenv("WATCHDOG_PID"));
    culex_status status = culex_worker_run(worker, &error);
    culex__signals_restore();
    return status == CULEX_OK ? EXIT_SUCCESS : failure_tell(program, status, &error);
}

/* --- options that are read again -------------------------------------------------------------- */

static culex_status options_read(void *user, culex_worker_options *ret_options, culex_error *error)
{
    struct command *command = user;
    culex_status status = culex__settings_read_again(command->config, command->argc, command->argv,
                                                     variable_get, &command->fresh, error);
    if (status == CULEX_OK)
        *ret_options = command->fresh.options;
    else
        culex__settings_release(&command->fresh);
    return status;
}

static void options_settle(void *user, bool is_taken)
{
    struct command *command = user;
    culex__settings_release(is_taken ? &command->latest : &command->fresh);
    if (is_taken)
        command->latest = command->fresh;
    command->fresh = (struct culex_settings){.config = NULL};
}

/* The program may go to another folder, and its file stays where it is. */
static culex_status reload_prepare(culex_worker *worker, struct command *command,
                                   const char *config, culex_error *error)
{
    command->config = culex__path_absolute(config, NULL);
    if (command->config == NULL)
        return culex__fail(error, CULEX_EUSAGE, "configuration file %s: %s",
                           culex__text_shown(config), strerror(errno));
    if (!culex__reload_set(worker, options_read, options_settle, command))
        return culex__fail(error, CULEX_ENOMEM, "cannot make an eventfd: %s", strerror(errno));
    culex__signals_reload(worker);
    return CULEX_OK;
}

static void command_release(struct command *command)
{
    culex__settings_release(&command->latest);
    free(command->config);
}

/* --- what it is asked for -------------------------------------------------------------------- */

static int check_serve(culex_worker *worker, const char *program, culex_worker_setup setup,
                       void *user)
{
    culex_error error = {0};
    if (setup != NULL && setup(worker, user) != 0) {
        setup_tell(worker, program);
        return EXIT_FAILED;
    }
    culex_status status = culex__worker_rehearse(worker, &error);
    if (status != CULEX_OK)
        return failure_tell(program, status, &error);
    printf("%s: the configuration is good\n", program);
    return EXIT_SUCCESS;
}

/* Whether the groups for handlers could be made there; what is made to see that is removed. */
static bool cgroup_examine(const char *dir)
{
    static const struct culex_process_effects kernel = {NULL, NULL};
    struct culex_cgroup group;
    culex_error error = {0};
    culex_finding finding = {CULEX_SEVERITY_OK, "cgroup", "groups with a bound can be made", ""};
    culex_doctor_report report = {
        "What the processes of a run hold together is bounded by its job's `memory`.", &finding, 1,
        CULEX_SEVERITY_OK};
    bool is_good =
        culex__cgroup_open(&group, dir, true, &kernel, culex__env_system(), &error) == CULEX_OK;
    if (is_good)
        culex__cgroup_close(&group);
    else {
        finding = (culex_finding){CULEX_SEVERITY_ERROR, "cgroup", error.text, ""};
        report.promise = "The worker will not start: the directory for its groups is of no use.";
    }
    char *text = culex_doctor_report_text(&report);
    fputs(text != NULL ? text : report.promise, stdout);
    free(text);
    return is_good;
}

static int doctor_serve(const culex_worker_options *options, const char *program)
{
    const culex_client_options store = {.timeout_ms = options->store_timeout_ms,
                                        .prefix = options->prefix,
                                        .synchronous = options->synchronous,
                                        .url_file = options->url_file};
    culex_doctor_report *report = NULL;
    culex_error error = {0};
    if (culex_doctor(options->url, &store, &report, &error) != CULEX_OK) {
        end_tell(program, error.text);
        return EXIT_FAILED;
    }
    char *text = culex_doctor_report_text(report);
    fputs(text != NULL ? text : report->promise, stdout);
    int code = report->worst == CULEX_SEVERITY_ERROR ? EXIT_FAILED : EXIT_SUCCESS;
    if (options->cgroup != NULL && !cgroup_examine(options->cgroup))
        code = EXIT_FAILED;
    free(text);
    culex_doctor_report_free(report);
    return code;
}

static int settings_serve(const struct culex_settings *settings, struct command *command,
                          culex_worker_setup setup, void *user)
{
    const char *program = command->name;
    culex_worker *worker = NULL;
    culex_error error = {0};
    if (settings->wants_help) {
        culex__settings_help(stdout, CULEX_PROGRAM_WORKER, program);
        return EXIT_SUCCESS;
    }
    if (settings->wants_version) {
        printf("%s (culex %s)\n", program, CULEX_VERSION);
        return EXIT_SUCCESS;
    }
    if (settings->wants_doctor)
        return doctor_serve(&settings->options, program);
    culex_status status = culex_worker_create(&settings->options, &worker, &error);
    if (status == CULEX_OK && settings->config != NULL)
        status = reload_prepare(worker, command, settings->config, &error);
    if (status != CULEX_OK) {
        end_tell(program, error.text);
        culex__signals_reload_end();
        culex_worker_free(worker);
        return status == CULEX_EUSAGE ? EXIT_USAGE : EXIT_FAILED;
    }
    if (!settings->options.core_dumps)
        culex__worker_set_private(worker);
    culex__advise_variables(&worker->log, environ);
    int code = settings->wants_check ? check_serve(worker, program, setup, user)
                                     : worker_serve(worker, program, setup, user);
    culex__signals_reload_end();
    culex_worker_free(worker);
    return code;
}

/* The line of a file that is at fault is shown below the reason. */
static void usage_tell(const char *program, const struct culex_settings *settings,
                       const culex_error *error)
{
    struct culex_log_line line;
    end_tell(program, error->text);
    culex__config_spot_put(&line, &settings->spot);
    if (line.len > 0)
        culex__stderr_write(line.text, line.len);
}

int culex_worker_main(int argc, char **argv, culex_worker_setup setup, void *user)
{
    struct culex_settings settings;
    culex_error error = {0};
    char *no_words[] = {NULL}; /* getopt takes no NULL for the list */
    struct command command = {.argc = argv != NULL ? argc : 0,
                              .argv = argv != NULL ? argv : no_words};
    command.name = program_name(command.argv);
    int code = EXIT_USAGE;
    if (culex__settings_read(CULEX_PROGRAM_WORKER, command.argc, command.argv, variable_get,
                             &settings, &error) == CULEX_OK)
        code = settings_serve(&settings, &command, setup, user);
    else
        usage_tell(command.name, &settings, &error);
    command_release(&command);
    culex__settings_release(&settings);
    return code;
}
