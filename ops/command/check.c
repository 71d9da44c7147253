/* ops/command/check.c - culex check: is all well, for monitors that speak as Nagios does.
 *
 * One line on standard output and an exit status of theirs: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
 * A store that is away is CRITICAL, for nothing is enqueued and nothing is done; a question that
 * makes no sense, a queue that is not there among them, is UNKNOWN. Of several the worst is told,
 * and what is known is worse than what is not, as their plugins have it. */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <culex/schedules.h>

#include "command/command.h"
#include "command/open.h"
#include "command/parked.h"
#include "command/print.h"
#include "command/range.h"
#include "command/returned.h"
#include "command/shape.h"
#include "command/survey.h"

enum health { OK, WARNING, CRITICAL, UNKNOWN };

static const char *const health_names[] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};

struct check {
    struct ops *ops;
    struct ops_threshold age, dead, overdue;
    enum health unserved, full, paused, unoffered, given_back; /* what these are taken for */
    enum health worst;
    FILE *problems, *numbers; /* of the line; with --json the latter has the queues */
    struct ops_json problems_json, queues_json;
    size_t problem_count;
};

/* --- what is asked ---------------------------------------------------------------------------- */

static culex_status health_read(const char *name, const char *text, enum health usual,
                                enum health *ret_health, culex_error *error)
{
    static const char *const words[] = {"ok", "warning", "critical"};
    *ret_health = usual;
    for (size_t i = 0; text != NULL && i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i], text) == 0) {
            *ret_health = (enum health)i;
            return CULEX_OK;
        }
    }
    return text == NULL
               ? CULEX_OK
               : ops_usage(error, "--%s: %s is none of ok, warning and critical", name, text);
}

static culex_status check_read(struct check *check, culex_error *error)
{
    const struct ops_options *options = &check->ops->options;
    culex_status status = CULEX_OK;
    if (options->waiting_age != NULL)
        status = ops_threshold_read("waiting-age", options->waiting_age, true, &check->age, error);
    if (status == CULEX_OK && options->dead_runs != NULL)
        status = ops_threshold_read("dead-runs", options->dead_runs, false, &check->dead, error);
    if (status == CULEX_OK && options->overdue != NULL)
        status = ops_threshold_read("overdue", options->overdue, true, &check->overdue, error);
    if (status == CULEX_OK)
        status = health_read("no-worker", options->no_worker, CRITICAL, &check->unserved, error);
    if (status == CULEX_OK)
        status = health_read("full", options->full, CRITICAL, &check->full, error);
    if (status == CULEX_OK)
        status = health_read("paused", options->paused, WARNING, &check->paused, error);
    if (status == CULEX_OK)
        status = health_read("unoffered", options->unoffered, WARNING, &check->unoffered, error);
    return status == CULEX_OK
               ? health_read("given-back", options->given_back, WARNING, &check->given_back, error)
               : status;
}

/* --- what is found ---------------------------------------------------------------------------- */

static enum health worse_of(enum health one, enum health other)
{
    static const int ranks[] = {[OK] = 0, [UNKNOWN] = 1, [WARNING] = 2, [CRITICAL] = 3};
    return ranks[one] > ranks[other] ? one : other;
}

CULEX_PRINTF(5, 6)
static void problem_add(struct check *check, enum health health, const char *queue,
                        const char *what, const char *format, ...)
{
    char text[256];
    va_list arguments;
    if (health == OK)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    check->worst = worse_of(health, check->worst);
    fputs(check->problem_count > 0 ? "; " : "", check->problems);
    ops_print_text(check->problems, queue, strlen(queue), false, 0);
    fputs(": ", check->problems);
    ops_print_text(check->problems, text, strlen(text), false, 0);
    check->problem_count++;
    struct ops_json *json = &check->problems_json;
    ops_json_object(json, NULL);
    ops_json_text(json, "queue", queue);
    ops_json_text(json, "what", what);
    ops_json_text(json, "state", health_names[health]);
    ops_json_text(json, "text", text);
    ops_json_object_end(json);
}

static enum health threshold_judge(const struct ops_threshold *threshold, double value)
{
    if (ops_range_alerts(&threshold->critical, value))
        return CRITICAL;
    return ops_range_alerts(&threshold->warning, value) ? WARNING : OK;
}

/* What may stand in a label between quotes. */
static void label_print(FILE *out, const char *queue)
{
    for (; *queue != '\0'; queue++)
        putc(strchr("'=|\"", *queue) != NULL || (unsigned char)*queue < 0x20 ? '_' : *queue, out);
}

/* 'mail dead'=3;10;100;0 */
static void number_add(struct check *check, const char *queue, const char *name, double value,
                       const char *unit, const struct ops_threshold *threshold)
{
    char warning[OPS_RANGE_SIZE] = "", critical[OPS_RANGE_SIZE] = "";
    if (threshold != NULL) {
        ops_range_format(&threshold->warning, warning);
        ops_range_format(&threshold->critical, critical);
    }
    fputs(" '", check->numbers);
    label_print(check->numbers, queue);
    fprintf(check->numbers, " %s'=%.15g%s;%s;%s;0", name, value, unit, warning, critical);
}

/* --- the queues ------------------------------------------------------------------------------- */

struct overdue {
    int64_t now_ms, most_ms;
    char *name; /* owned: the latest; NULL: none is late */
};

static bool schedule_see(const culex_schedule_info *schedule, void *user)
{
    struct overdue *overdue = user;
    int64_t late_ms = overdue->now_ms - schedule->next_ms;
    if (schedule->is_paused || schedule->next_ms == 0 || late_ms <= overdue->most_ms)
        return true;
    overdue->most_ms = late_ms;
    free(overdue->name);
    overdue->name = ops_copy(schedule->name, strlen(schedule->name));
    return true;
}

static culex_status overdue_judge(struct check *check, const struct ops_queue_view *view,
                                  double *ret_seconds, culex_error *error)
{
    struct overdue overdue = {.now_ms = view->stats.now_ms};
    culex_status status =
        culex_client_schedules(check->ops->client, view->name, schedule_see, &overdue, error);
    *ret_seconds = (double)overdue.most_ms / 1000;
    enum health health = threshold_judge(&check->overdue, *ret_seconds);
    char span[OPS_SPAN_SIZE];
    if (status == CULEX_OK)
        problem_add(check, health, view->name, "overdue", "periodic job %s is overdue by %s",
                    overdue.name != NULL ? overdue.name : "-",
                    ops_span_format(overdue.most_ms * 1000, span));
    free(overdue.name);
    return status;
}

/* Who claims over HTTP is in no list of workers; a run whose lease is good has somebody. */
struct leases {
    int64_t now_ms;
    size_t left;
    bool is_good; /* one of them */
};

static bool lease_see(const culex_run_info *run, void *user)
{
    struct leases *leases = user;
    leases->is_good = run->at_ms > leases->now_ms;
    leases->left--;
    return !leases->is_good && leases->left > 0;
}

static culex_status unserved_judge(struct check *check, const struct ops_queue_view *view,
                                   culex_error *error)
{
    enum { LOOKED_MAX = 2000 };
    struct leases leases = {.now_ms = view->stats.now_ms, .left = LOOKED_MAX};
    culex_list_cursor cursor = {.place = 0};
    uint64_t waiting = view->stats.count[CULEX_RUN_WAITING];
    bool is_open = view->stats.count[CULEX_RUN_ACTIVE] > 0;
    culex_status status = CULEX_OK;
    if (waiting == 0 || view->workers > 0 || check->unserved == OK)
        return CULEX_OK;
    while (status == CULEX_OK && is_open && !leases.is_good) {
        status = culex_client_list(check->ops->client, view->name, CULEX_RUN_ACTIVE, &cursor, 0,
                                   lease_see, &leases, error);
        is_open = cursor.place != 0 && leases.left > 0;
    }
    if (status == CULEX_OK && !leases.is_good)
        problem_add(check, check->unserved, view->name, "no-worker",
                    "%" PRIu64 " runs wait and no worker claims any", waiting);
    return status;
}

/* Runs that no worker may take, whoever is there. */
static culex_status held_judge(struct check *check, const struct ops_queue_view *view,
                               culex_error *error)
{
    struct ops_parked parked;
    uint64_t waiting = view->stats.count[CULEX_RUN_WAITING];
    if (waiting == 0)
        return CULEX_OK;
    if (view->stats.paused)
        problem_add(check, check->paused, view->name, "paused", "paused, and %" PRIu64 " runs wait",
                    waiting);
    culex_status status = ops_parked_read(check->ops, view->name, NULL, &parked, error);
    if (status == CULEX_OK && parked.unoffered > 0)
        problem_add(check, check->unoffered, view->name, "unoffered",
                    "%" PRIu64 " runs wait for what no worker offers: %s", parked.unoffered,
                    parked.needs);
    return status;
}

/* Runs that workers take, and cannot execute. */
static culex_status returned_judge(struct check *check, const struct ops_queue_view *view,
                                   culex_error *error)
{
    struct ops_returned returned;
    const uint64_t *count = view->stats.count;
    if (check->given_back == OK || count[CULEX_RUN_SCHEDULED] + count[CULEX_RUN_WAITING] == 0)
        return CULEX_OK;
    culex_status status = ops_returned_read(check->ops, view->name, &returned, error);
    if (status == CULEX_OK && returned.count > 0)
        problem_add(check, check->given_back, view->name, "given-back",
                    "%" PRIu64 " runs are given back by workers, as %s", returned.count,
                    returned.text);
    return status;
}

static void runs_judge(struct check *check, const struct ops_queue_view *view)
{
    char span[OPS_SPAN_SIZE];
    uint64_t dead = view->stats.count[CULEX_RUN_DEAD];
    double age = view->age_ms > 0 ? (double)view->age_ms / 1000 : 0;
    problem_add(check, threshold_judge(&check->age, age), view->name, "waiting-age",
                "the oldest run waits for %s",
                ops_span_format((view->age_ms > 0 ? view->age_ms : 0) * 1000, span));
    problem_add(check, threshold_judge(&check->dead, (double)dead), view->name, "dead-runs",
                "%" PRIu64 " dead runs", dead);
}

static void full_judge(struct check *check, const struct ops_queue_view *view)
{
    if (ops_queue_is_full(&view->stats))
        problem_add(check, check->full, view->name, "full",
                    "full, as %" PRIu64 " runs are bounded by %" PRIu64,
                    ops_queue_open(&view->stats), view->stats.limit);
}

static void numbers_add(struct check *check, const struct ops_queue_view *view, double overdue)
{
    double age = view->age_ms > 0 ? (double)view->age_ms / 1000 : 0;
    number_add(check, view->name, "waiting", (double)view->stats.count[CULEX_RUN_WAITING], "",
               NULL);
    number_add(check, view->name, "waiting_age", age, "s", &check->age);
    number_add(check, view->name, "dead", (double)view->stats.count[CULEX_RUN_DEAD], "",
               &check->dead);
    number_add(check, view->name, "workers", (double)view->workers, "", NULL);
    number_add(check, view->name, "open", (double)ops_queue_open(&view->stats), "", NULL);
    if (view->stats.limit > 0)
        fprintf(check->numbers, ";%" PRIu64, view->stats.limit);
    if (check->ops->options.overdue != NULL)
        number_add(check, view->name, "overdue", overdue, "s", &check->overdue);
}

static void queue_json(struct check *check, const struct ops_queue_view *view, double overdue)
{
    struct ops_json *json = &check->queues_json;
    ops_json_object(json, NULL);
    ops_json_text(json, "queue", view->name);
    ops_json_count(json, "waiting", view->stats.count[CULEX_RUN_WAITING]);
    ops_json_int(json, "waiting_age_ms", view->age_ms > 0 ? view->age_ms : 0);
    ops_json_count(json, "dead", view->stats.count[CULEX_RUN_DEAD]);
    ops_json_count(json, "workers", view->workers);
    ops_json_count(json, "open", ops_queue_open(&view->stats));
    ops_json_count(json, "capacity", view->stats.limit);
    if (check->ops->options.overdue != NULL)
        ops_json_int(json, "overdue_ms", (int64_t)(overdue * 1000));
    ops_json_object_end(json);
}

static culex_status queue_judge(struct check *check, const struct ops_queue_view *view,
                                culex_error *error)
{
    double overdue = 0;
    culex_status status = CULEX_OK;
    if (view->wrong != NULL) {
        problem_add(check, UNKNOWN, view->name, "unreadable", "%s", view->wrong);
        return CULEX_OK;
    }
    if (check->ops->options.overdue != NULL)
        status = overdue_judge(check, view, &overdue, error);
    if (status == CULEX_OK)
        status = held_judge(check, view, error);
    if (status == CULEX_OK)
        status = returned_judge(check, view, error);
    if (status == CULEX_OK) {
        runs_judge(check, view);
        status = unserved_judge(check, view, error);
    }
    if (status != CULEX_OK)
        return status;
    full_judge(check, view);
    numbers_add(check, view, overdue);
    queue_json(check, view, overdue);
    return CULEX_OK;
}

/* The queues that are named, each once: figures have labels. Returns owned. */
static const char **names_make(const struct ops *ops, size_t *ret_count)
{
    const char **names = ops_alloc(NULL, (ops->argument_count + 1) * sizeof *names);
    *ret_count = 0;
    for (size_t i = 0; i < ops->argument_count; i++) {
        size_t at = 0;
        while (at < *ret_count && strcmp(names[at], ops->arguments[i]) != 0)
            at++;
        names[at] = ops->arguments[i];
        *ret_count += at == *ret_count;
    }
    return names;
}

static culex_status queues_judge(struct check *check, size_t *ret_count, culex_error *error)
{
    enum { LOOKED_MAX = 20000 };
    struct ops *ops = check->ops;
    struct ops_survey survey;
    size_t count;
    const char **names = names_make(ops, &count);
    culex_status status = ops_survey_read(ops, names, count, LOOKED_MAX, &survey, error);
    free(names);
    *ret_count = survey.count;
    if (status == CULEX_OK && survey.count == 0)
        status = ops_fail(error, CULEX_ENOTFOUND,
                          "the store has no queue: are its URL and prefix the right ones?");
    for (size_t i = 0; i < survey.count && status == CULEX_OK; i++)
        status = queue_judge(check, &survey.of[i], error);
    ops_survey_free(&survey);
    return status;
}

/* --- the line --------------------------------------------------------------------------------- */

static void line_print(bool is_json, enum health health, const char *text, const char *numbers,
                       const char *problems_json, const char *queues_json)
{
    struct ops_json json = {.out = stdout};
    if (!is_json) {
        printf("CULEX %s - ", health_names[health]);
        ops_print_text(stdout, text, strlen(text), false, 0);
        printf("%s%s\n", numbers[0] != '\0' ? " |" : "", numbers);
        return;
    }
    ops_json_object(&json, NULL);
    ops_json_text(&json, "state", health_names[health]);
    ops_json_int(&json, "code", health);
    ops_json_text(&json, "text", text);
    ops_json_raw(&json, "problems", problems_json, strlen(problems_json));
    ops_json_raw(&json, "queues", queues_json, strlen(queues_json));
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

/* Of a failure: where the question cannot be put as it is, UNKNOWN. */
static enum health failure_judge(culex_status status)
{
    bool is_question = status == CULEX_EUSAGE || status == CULEX_EURL || status == CULEX_EINVAL ||
                       status == CULEX_ENOTFOUND || status == CULEX_ENOMEM ||
                       status == CULEX_EDENIED || status == CULEX_EVERSION;
    return is_question ? UNKNOWN : CRITICAL;
}

int ops_check_failed(culex_status status, const culex_error *error, bool is_json)
{
    enum health health = failure_judge(status);
    char *text = ops_reword(error->text[0] != '\0' ? error->text : culex_status_text(status));
    line_print(is_json, health, text, "", "[]", "[]");
    free(text);
    return (int)health;
}

/* --- in time ---------------------------------------------------------------------------------- */

static const char *late_line;

/* A call of the store may wait for longer than the monitor does. */
static void time_over(int number)
{
    (void)number;
    ssize_t ignored = write(STDOUT_FILENO, late_line, strlen(late_line));
    (void)ignored;
    _exit(CRITICAL);
}

static void time_bound(const struct ops *ops)
{
    culex_duration timeout =
        ops_is_given(&ops->options, "timeout") ? ops->options.timeout : 10 * CULEX_SECOND;
    if (timeout < CULEX_MILLISECOND)
        timeout = CULEX_MILLISECOND; /* a timer of 0 never ends */
    const struct itimerval timer = {
        .it_value = {.tv_sec = timeout / CULEX_SECOND, .tv_usec = timeout % CULEX_SECOND / 1000}};
    const struct sigaction action = {.sa_handler = time_over};
    late_line = ops->options.wants_json
                    ? "{\"state\":\"CRITICAL\",\"code\":2,\"text\":\"the store did not answer in "
                      "time\",\"problems\":[],\"queues\":[]}\n"
                    : "CULEX CRITICAL - the store did not answer in time\n";
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* --- all of it -------------------------------------------------------------------------------- */

static culex_status store_judge(struct check *check, size_t *ret_count, culex_error *error)
{
    culex_status status = check_read(check, error);
    if (status != CULEX_OK)
        return status;
    if (ops_is_given(&check->ops->options, "timeout") && check->ops->options.timeout <= 0)
        return ops_usage(error, "--timeout: no store answers in no time");
    time_bound(check->ops);
    status = ops_store_open(check->ops, error);
    return status == CULEX_OK ? queues_judge(check, ret_count, error) : status;
}

/* The four parts of the line are written beside each other. */
struct parts {
    char *of[4]; /* owned */
    size_t sizes[4];
    FILE *out[4];
};

static bool parts_begin(struct parts *parts)
{
    bool are_open = true;
    *parts = (struct parts){.of = {NULL}};
    for (size_t i = 0; i < 4; i++) {
        parts->out[i] = open_memstream(&parts->of[i], &parts->sizes[i]);
        are_open &= parts->out[i] != NULL;
    }
    return are_open;
}

static void parts_end(struct parts *parts)
{
    for (size_t i = 0; i < 4; i++) {
        if (parts->out[i] != NULL)
            fclose(parts->out[i]);
        parts->out[i] = NULL;
    }
}

culex_status ops_check(struct ops *ops, culex_error *error)
{
    struct parts parts;
    size_t count = 0;
    char all_well[64];
    if (!parts_begin(&parts))
        return ops_fail(error, CULEX_ENOMEM, "no memory for a line");
    struct check check = {.ops = ops, .problems = parts.out[0], .numbers = parts.out[1]};
    check.problems_json.out = parts.out[2];
    check.queues_json.out = parts.out[3];
    ops_json_array(&check.problems_json, NULL);
    ops_json_array(&check.queues_json, NULL);
    culex_status status = store_judge(&check, &count, error);
    ops_json_array_end(&check.problems_json);
    ops_json_array_end(&check.queues_json);
    parts_end(&parts);
    snprintf(all_well, sizeof all_well, "%zu queues are well", count);
    if (status == CULEX_OK)
        line_print(ops->options.wants_json, check.worst,
                   check.problem_count > 0 ? parts.of[0] : all_well, parts.of[1], parts.of[2],
                   parts.of[3]);
    ops->code = (int)check.worst;
    for (size_t i = 0; i < 4; i++)
        free(parts.of[i]);
    return status;
}
