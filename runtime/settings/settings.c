#include "settings/settings.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "base/error.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "log/log.h"
#include "settings/storesettings.h"
#include "store/storeurl.h"

enum option_kind {
    OPTION_TEXT,
    OPTION_QUEUES,
    OPTION_NUMBER,
    OPTION_DURATION,
    OPTION_CHOICE,
    OPTION_FLAG,
    OPTION_DOCTOR,
    OPTION_ENDED,
    OPTION_ALLOW_EMPTY,
    OPTION_HELP,
    OPTION_VERSION
};

/* Whose option it is. */
enum option_owner { OWNER_WORKER, OWNER_ALL, OWNER_LIVE };

/* The words of a choice stand in `help`-like form "a|b|c"; the n-th word means the n-th value. */
struct option_row {
    const char *name;     /* --name */
    const char *variable; /* NULL: command line only */
    enum option_kind kind;
    const char *value; /* how the help names it; the words of a choice */
    size_t offset;     /* in culex_worker_options */
    int64_t min;       /* NUMBER; DURATION in ms */
    int64_t max;
    const char *help;
    enum option_owner owner;
};

#define AT(member) offsetof(culex_worker_options, member)
#define DAY_MS     INT64_C(86400000)

static const struct option_row rows[] = {
    {"url", "CULEX_URL", OPTION_TEXT, "URL", AT(url), 0, 0,
     "store: sqlite:PATH, memory:, redis://HOST:PORT/DB\n[sqlite:culex.db]", OWNER_ALL},
    {"url-file", "CULEX_URL_FILE", OPTION_TEXT, "PATH", AT(url_file), 0, 0,
     "file with the store's URL: of this user, mode 0600", OWNER_ALL},
    {"queues", "CULEX_QUEUES", OPTION_QUEUES, "A,B", 0, 0, 0,
     "serve only these [those of all registered jobs]", OWNER_WORKER},
    {"name", "CULEX_NAME", OPTION_TEXT, "NAME", AT(name), 0, 0,
     "of this worker, stable over restarts: it gets its\nruns back at once [unique per process]",
     OWNER_WORKER},
    {"concurrency", "CULEX_CONCURRENCY", OPTION_NUMBER, "N", AT(concurrency), 1, 1024,
     "runs at a time [number of processors]", OWNER_WORKER},
    {"batch", "CULEX_BATCH", OPTION_NUMBER, "N", AT(batch), 1, CULEX_BATCH_MAX,
     "most runs claimed in one call [32]", OWNER_WORKER},
    {"isolation", "CULEX_ISOLATION", OPTION_CHOICE, "none|process|job", AT(isolation), 0, 0,
     "handlers on threads of this process, in child\nprocesses, each run in one of its own "
     "[process]",
     OWNER_WORKER},
    {"cgroup", "CULEX_CGROUP", OPTION_TEXT, "DIR", AT(cgroup), 0, 0,
     "directory of cgroup v2: bounds the processes of a\nrun together by its job's `memory`",
     OWNER_WORKER},
    {"lease", "CULEX_LEASE", OPTION_DURATION, "TIME", AT(lease_ms), 200, DAY_MS,
     "hold on a run without a heartbeat [15s]", OWNER_WORKER},
    {"grace", "CULEX_GRACE", OPTION_DURATION, "TIME", AT(grace_ms), 0, DAY_MS,
     "time for running handlers at a stop [25s]", OWNER_WORKER},
    {"idle-wait", "CULEX_IDLE_WAIT", OPTION_DURATION, "TIME", AT(idle_wait_ms), 1, DAY_MS,
     "longest wait where the store has no wake-up [100ms]", OWNER_WORKER},
    {"drain", "CULEX_DRAIN", OPTION_FLAG, NULL, AT(drain), 0, 0,
     "end once nothing is scheduled, waiting or active", OWNER_WORKER},
    {"log-format", "CULEX_LOG_FORMAT", OPTION_CHOICE, "text|json", AT(log_format), 0, 0,
     "of the lines on stderr [text]", OWNER_WORKER},
    {"log-level", "CULEX_LOG_LEVEL", OPTION_CHOICE, "error|warn|info|debug", AT(log_level), 0, 0,
     "least important line that is written [info]", OWNER_WORKER},
    {"prefix", "CULEX_PREFIX", OPTION_TEXT, "TEXT", AT(prefix), 0, 0,
     "Redis: first part of every key [culex]", OWNER_ALL},
    {"store-timeout", "CULEX_STORE_TIMEOUT", OPTION_DURATION, "TIME", AT(store_timeout_ms),
     CULEX_STORE_TIMEOUT_MS_MIN, CULEX_STORE_TIMEOUT_MS_MAX,
     "longest wait for one answer of the store [5s]", OWNER_ALL},
    {"synchronous", "CULEX_SYNCHRONOUS", OPTION_CHOICE, "full|normal|off", AT(synchronous), 0, 0,
     "SQLite: what survives a power cut [full]", OWNER_WORKER},
    {"core-dumps", "CULEX_CORE_DUMPS", OPTION_FLAG, NULL, AT(core_dumps), 0, 0,
     "let debuggers and core dumps see the worker's memory,\nwhich may hold the store's password",
     OWNER_WORKER},
    {"doctor", NULL, OPTION_DOCTOR, NULL, 0, 0, 0,
     "examine the store and the cgroup, say what they are\ngood for, and exit: 1 when that is not "
     "enough",
     OWNER_WORKER},
    {"queue", NULL, OPTION_QUEUES, "A,B", 0, 0, 0, "only runs of these queues [of all]",
     OWNER_LIVE},
    {"ended", NULL, OPTION_ENDED, NULL, 0, 0, 0,
     "count done and cancelled runs too, while the store\nkeeps them", OWNER_LIVE},
    {"allow-empty", NULL, OPTION_ALLOW_EMPTY, NULL, 0, 0, 0,
     "a store without any queue is meant, and no mistake", OWNER_LIVE},
    {"help", NULL, OPTION_HELP, NULL, 0, 0, 0, "show this and exit", OWNER_ALL},
    {"version", NULL, OPTION_VERSION, NULL, 0, 0, 0, "show the version and exit", OWNER_ALL},
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static bool row_is_for(const struct option_row *row, enum culex_program program)
{
    return row->owner == OWNER_ALL || (row->owner == OWNER_LIVE) == (program == CULEX_PROGRAM_LIVE);
}

/* --- values --------------------------------------------------------------------------------- */

static int64_t unit_ms(const char *unit)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", DAY_MS}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(unit, units[i].name) == 0)
            return units[i].ms;
    }
    return 0;
}

bool culex__span_parse(const char *text, int64_t *ret_ms)
{
    int64_t whole = 0, thousandths = 0, scale = 100;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && whole < INT64_C(1000000000000); at++)
        whole = whole * 10 + (*at - '0');
    if (at == text)
        return false;
    if (*at == '.') {
        for (at++; *at >= '0' && *at <= '9' && scale > 0; at++, scale /= 10)
            thousandths += (*at - '0') * scale;
        if (scale == 100)
            return false;
    }
    int64_t unit = whole == 0 && thousandths == 0 && *at == '\0' ? 1 : unit_ms(at);
    if (unit == 0 || whole > 10000 * DAY_MS / unit)
        return false;
    *ret_ms = whole * unit + thousandths * unit / 1000;
    return true;
}

static bool number_parse(const char *text, int64_t *ret_number)
{
    int64_t number = 0;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || number > 1000000000)
            return false;
        number = number * 10 + (*text - '0');
    }
    *ret_number = number;
    return true;
}

/* Which word of "a|b|c" `value` is, from 0; -1 for none. */
static int choice_find(const char *words, const char *value)
{
    size_t len = strlen(value);
    for (int i = 0; len > 0; i++) {
        size_t word = strcspn(words, "|");
        if (word == len && memcmp(words, value, len) == 0)
            return i;
        if (words[word] == '\0')
            break;
        words += word + 1;
    }
    return -1;
}

/* --- one option into the settings ------------------------------------------------------------- */

static void *member(struct culex_settings *settings, const struct option_row *row)
{
    return (char *)&settings->options + row->offset;
}

static culex_status set_text(struct culex_settings *settings, const struct option_row *row,
                             const char *from, const char *value, culex_error *error)
{
    if (value[0] == '\0')
        return culex__fail(error, CULEX_EUSAGE, "%s: the value is empty", from);
    if (row->offset == AT(url) && from[0] == '-' && culex__store_url_has_password(value))
        return culex__fail(error, CULEX_EUSAGE,
                           "%s: every user of this machine can read a password on a command line; "
                           "write the URL into a file (--url-file, mode 0600), or leave the "
                           "password out and put it into CULEX_PASSWORD",
                           from);
    if (row->offset == AT(prefix) && culex__store_prefix_check(value, error) != CULEX_OK) {
        culex__error_context(error, "%s", from);
        if (error != NULL)
            error->code = CULEX_EUSAGE;
        return CULEX_EUSAGE;
    }
    *(const char **)member(settings, row) = value;
    return CULEX_OK;
}

static culex_status set_number(struct culex_settings *settings, const struct option_row *row,
                               const char *from, const char *value, culex_error *error)
{
    int64_t number;
    if (!number_parse(value, &number) || number < row->min || number > row->max)
        return culex__fail(error, CULEX_EUSAGE, "%s: '%s' is not a whole number from %d to %d",
                           from, value, (int)row->min, (int)row->max);
    *(unsigned *)member(settings, row) = (unsigned)number;
    return CULEX_OK;
}

static culex_status set_duration(struct culex_settings *settings, const struct option_row *row,
                                 const char *from, const char *value, culex_error *error)
{
    int64_t ms;
    char min[CULEX_LOG_SPAN_SIZE], max[CULEX_LOG_SPAN_SIZE];
    culex__log_format_span(row->min, min);
    culex__log_format_span(row->max, max);
    if (!culex__span_parse(value, &ms) || ms < row->min || ms > row->max)
        return culex__fail(error, CULEX_EUSAGE,
                           "%s: '%s' is not a time from %s to %s, written like 500ms, 30s or 5m",
                           from, value, min, max);
    /* Zero means the default in the options; only the grace period may be none at all. */
    *(int64_t *)member(settings, row) = ms > 0 ? ms : -1;
    return CULEX_OK;
}

static void words_format(const char *words, char *ret_text, size_t size)
{
    size_t at = 0;
    for (; *words != '\0' && at + 3 < size; words++) {
        if (*words == '|')
            ret_text[at++] = ',';
        ret_text[at++] = *words == '|' ? ' ' : *words;
    }
    ret_text[at] = '\0';
}

static culex_status set_choice(struct culex_settings *settings, const struct option_row *row,
                               const char *from, const char *value, culex_error *error)
{
    static const char *const synchronous[] = {"full", "normal", "off"}; /* a value may be gone */
    char words[64];
    int choice = choice_find(row->value, value);
    words_format(row->value, words, sizeof words);
    if (choice < 0)
        return culex__fail(error, CULEX_EUSAGE, "%s: '%s' is not one of: %s", from, value, words);
    if (row->offset == AT(isolation))
        settings->options.isolation = (culex_isolation)(CULEX_ISOLATION_NONE + choice);
    else if (row->offset == AT(log_format))
        settings->options.log_format = choice == 0 ? CULEX_LOG_TEXT : CULEX_LOG_JSON;
    else if (row->offset == AT(log_level))
        settings->options.log_level = choice + 1;
    else
        settings->options.synchronous = synchronous[choice];
    return CULEX_OK;
}

static culex_status set_queues(struct culex_settings *settings, const char *from, const char *value,
                               culex_error *error)
{
    size_t count = 0;
    free(settings->queues_text);
    free(settings->queues);
    settings->queues_text = strdup(value);
    settings->queues = calloc(strlen(value) / 2 + 1, sizeof *settings->queues);
    if (settings->queues_text == NULL || settings->queues == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for the queue names");
    char *rest = settings->queues_text;
    for (char *name; (name = strsep(&rest, ",")) != NULL;) {
        if (culex__queue_check(name, error) != CULEX_OK) {
            culex__error_context(error, "%s: '%s' is not a list of queues like a,b", from, value);
            if (error != NULL)
                error->code = CULEX_EUSAGE;
            return CULEX_EUSAGE;
        }
        settings->queues[count++] = name;
    }
    settings->options.queues = settings->queues;
    settings->options.queue_count = count;
    return CULEX_OK;
}

/* On the command line a flag stands alone; its variable says yes or no. */
static culex_status set_flag(struct culex_settings *settings, const struct option_row *row,
                             const char *from, const char *value, culex_error *error)
{
    int choice = value == NULL ? 0 : choice_find("1|true|yes|on|0|false|no|off", value);
    if (choice < 0)
        return culex__fail(error, CULEX_EUSAGE,
                           "%s: '%s' is not one of: 1, true, yes, on, 0, "
                           "false, no, off",
                           from, value);
    *(bool *)member(settings, row) = choice < 4;
    return CULEX_OK;
}

static culex_status setting_apply(struct culex_settings *settings, const struct option_row *row,
                                  const char *from, const char *value, culex_error *error)
{
    switch (row->kind) {
    case OPTION_TEXT:
        return set_text(settings, row, from, value, error);
    case OPTION_QUEUES:
        return set_queues(settings, from, value, error);
    case OPTION_NUMBER:
        return set_number(settings, row, from, value, error);
    case OPTION_DURATION:
        return set_duration(settings, row, from, value, error);
    case OPTION_CHOICE:
        return set_choice(settings, row, from, value, error);
    case OPTION_FLAG:
        return set_flag(settings, row, from, value, error);
    case OPTION_DOCTOR:
        settings->wants_doctor = true;
        return CULEX_OK;
    case OPTION_ENDED:
        settings->wants_ended = true;
        return CULEX_OK;
    case OPTION_ALLOW_EMPTY:
        settings->allows_empty = true;
        return CULEX_OK;
    case OPTION_HELP:
        settings->wants_help = true;
        return CULEX_OK;
    case OPTION_VERSION:
        settings->wants_version = true;
        return CULEX_OK;
    }
    return CULEX_OK;
}

/* --- sources --------------------------------------------------------------------------- */

static bool row_is_store(const struct option_row *row)
{
    return row->kind == OPTION_TEXT && (row->offset == AT(url) || row->offset == AT(url_file));
}

/* Empty is what a script makes of a name that it does not know. */
static culex_status variable_apply(struct culex_settings *settings, const struct option_row *row,
                                   const char *value, culex_error *error)
{
    if (value[0] != '\0')
        return setting_apply(settings, row, row->variable, value, error);
    return culex__fail(error, row_is_store(row) ? CULEX_EURL : CULEX_EUSAGE,
                       "%s is set but empty: unset it, or give it a value", row->variable);
}

/* What is said of the store by more than the command line and its variable: see storesettings.h. */
static bool row_is_layered(const struct option_row *row)
{
    return row->offset == AT(synchronous) || row->offset == AT(store_timeout_ms) ||
           (row->kind == OPTION_TEXT && row->offset == AT(prefix));
}

culex_status culex__store_variables_read(culex_variable_get variable,
                                         struct culex_settings *settings, culex_error *error)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const char *value = row_is_layered(&rows[i]) ? variable(rows[i].variable) : NULL;
        culex_status status =
            value == NULL ? CULEX_OK : variable_apply(settings, &rows[i], value, error);
        if (status != CULEX_OK)
            return status;
    }
    return CULEX_OK;
}

culex_status culex__store_parameter_read(const char *name, const char *value,
                                         struct culex_settings *settings, culex_error *error)
{
    char from[64];
    snprintf(from, sizeof from, "store URL: %.40s", name);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (!row_is_layered(&rows[i]) || strcmp(rows[i].name, name) != 0)
            continue;
        if (setting_apply(settings, &rows[i], from, value, error) == CULEX_OK)
            return CULEX_OK;
        if (error != NULL)
            error->code = CULEX_EURL;
        return CULEX_EURL;
    }
    return CULEX_OK;
}

/* A store on the command line wins over both variables, whatever they say. A variable that the
 * store's URL may yet overrule is looked at here, and read when the store is opened. */
static culex_status variables_read(const struct culex_settings *asked,
                                   struct culex_settings *settings, culex_variable_get variable,
                                   culex_error *error)
{
    bool has_store = asked->options.url != NULL || asked->options.url_file != NULL;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct culex_settings later = {0};
        const char *value = rows[i].variable != NULL ? variable(rows[i].variable) : NULL;
        if (value == NULL || !row_is_for(&rows[i], settings->program) ||
            (has_store && row_is_store(&rows[i])))
            continue;
        culex_status status =
            variable_apply(row_is_layered(&rows[i]) ? &later : settings, &rows[i], value, error);
        if (status != CULEX_OK)
            return status;
    }
    return CULEX_OK;
}

static bool row_takes_value(const struct option_row *row)
{
    return row->value != NULL;
}

static culex_status argument_fail(char **argv, int opt, culex_error *error)
{
    const char *word = optind > 0 ? argv[optind - 1] : "";
    if (opt == ':' && optopt > 0 && optopt <= ROW_COUNT)
        return culex__fail(error, CULEX_EUSAGE, "--%s needs a value", rows[optopt - 1].name);
    if (optopt > 0 && optopt <= ROW_COUNT)
        return culex__fail(error, CULEX_EUSAGE, "--%s takes no value", rows[optopt - 1].name);
    return culex__fail(error, CULEX_EUSAGE, "unknown option '%s'; --help lists all", word);
}

/* One of two values would win in silence. `place` is that of the word in argv, `*first` that of
 * the one before, 0 for none. */
static culex_status repeat_check(const struct option_row *row, int place, int *first,
                                 culex_error *error)
{
    if (*first > 0 && row_takes_value(row))
        return culex__fail(error, CULEX_EUSAGE, "--%s is given twice, as arguments %d and %d; %s",
                           row->name, *first, place,
                           row->kind == OPTION_QUEUES ? "write one list like a,b" : "leave one");
    *first = place;
    return CULEX_OK;
}

/* Where the option stands that was read last: its value may be a word of its own. */
static int option_place(char **argv)
{
    bool is_apart = optarg != NULL && optarg == argv[optind - 1];
    return optind - 1 - is_apart;
}

static culex_status arguments_read(struct culex_settings *settings, int argc, char **argv,
                                   culex_error *error)
{
    struct option options[ROW_COUNT + 1] = {0};
    for (int i = 0, count = 0; i < ROW_COUNT; i++) {
        if (row_is_for(&rows[i], settings->program))
            options[count++] = (struct option){
                rows[i].name, row_takes_value(&rows[i]) ? required_argument : no_argument, NULL,
                i + 1};
    }
    int places[ROW_COUNT] = {0};
    opterr = 0;
    optind = 0; /* so that a second call in one process begins afresh */
    for (int opt; (opt = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        char from[32];
        if (opt == 'h') {
            settings->wants_help = true;
            continue;
        }
        if (opt < 1 || opt > ROW_COUNT)
            return argument_fail(argv, opt, error);
        snprintf(from, sizeof from, "--%s", rows[opt - 1].name);
        culex_status status =
            repeat_check(&rows[opt - 1], option_place(argv), &places[opt - 1], error);
        if (status == CULEX_OK)
            status = setting_apply(settings, &rows[opt - 1], from, optarg, error);
        if (status != CULEX_OK)
            return status;
    }
    if (optind < argc)
        return culex__fail(error, CULEX_EUSAGE, "unexpected argument '%s'; --help lists all",
                           argv[optind]);
    return CULEX_OK;
}

static culex_status urls_check(const struct culex_settings *asked,
                               const struct culex_settings *settings, culex_error *error)
{
    if (asked->options.url != NULL && asked->options.url_file != NULL)
        return culex__fail(error, CULEX_EUSAGE, "--url and --url-file exclude each other");
    if (settings->options.url != NULL && settings->options.url_file != NULL)
        return culex__fail(error, CULEX_EUSAGE, "CULEX_URL and CULEX_URL_FILE exclude each other");
    return CULEX_OK;
}

culex_status culex__settings_read(enum culex_program program, int argc, char **argv,
                                  culex_variable_get variable, struct culex_settings *ret_settings,
                                  culex_error *error)
{
    *ret_settings = (struct culex_settings){.program = program};
    /* First the command line alone: --help works whatever the variables say. */
    struct culex_settings asked = {.program = program};
    culex_status status = arguments_read(&asked, argc, argv, error);
    bool is_question = asked.wants_help || asked.wants_version;
    ret_settings->wants_help = asked.wants_help;
    ret_settings->wants_version = asked.wants_version;
    culex__settings_release(&asked);
    if (status != CULEX_OK || is_question)
        return status;
    status = variables_read(&asked, ret_settings, variable, error);
    if (status == CULEX_OK)
        status = urls_check(&asked, ret_settings, error);
    if (status != CULEX_OK)
        return status;
    return arguments_read(ret_settings, argc, argv, error);
}

void culex__settings_release(struct culex_settings *settings)
{
    free(settings->queues_text);
    free(settings->queues);
    settings->queues_text = NULL;
    settings->queues = NULL;
    settings->options.queues = NULL;
    settings->options.queue_count = 0;
}

const char *culex__settings_variable(size_t i)
{
    /* Not an option: a password does not belong on a command line. */
    static const char password[] = "CULEX_PASSWORD";
    for (size_t row = 0; row < ROW_COUNT; row++) {
        if (rows[row].variable != NULL && i-- == 0)
            return rows[row].variable;
    }
    return i == 0 ? password : NULL;
}

/* --- help ------------------------------------------------------------------------------ */

static void help_row(FILE *out, const struct option_row *row)
{
    char head[32];
    bool is_long = row->value != NULL && strlen(row->name) + strlen(row->value) > 21;
    snprintf(head, sizeof head, "--%s%s%s", row->name, row->value != NULL ? " " : "",
             row->value != NULL && !is_long ? row->value
             : is_long                      ? "LEVEL"
                                            : "");
    fprintf(out, "  %-24s ", head);
    for (const char *at = row->help; *at != '\0'; at++) {
        if (*at == '\n')
            fprintf(out, "\n%27s", "");
        else
            fputc(*at, out);
    }
    if (is_long)
        fprintf(out, "\n%27s%s", "", row->value);
    fputc('\n', out);
}

static const struct {
    const char *head;
    const char *tail;
} helps[] = {
    {"Runs background jobs until SIGINT or SIGTERM; a second one skips the grace.\n",
     "Every option has a variable: CULEX_URL, CULEX_IDLE_WAIT, ... CULEX_DRAIN=1.\n"
     "One that is set but empty is refused.\n"
     "Defaults, in brackets, give way to variables, those to the store's URL\n"
     "(?prefix=, ?store-timeout=, ?synchronous=), and all of them to options.\n"
     "Times are written like 500ms, 30s, 1.5s, 5m, 2h, 1d.\n"
     "Exit status:\n"
     "  0  stopped or drained\n"
     "  1  failed: could not be set up, or could not go on\n"
     "  2  wrong usage\n"
     "  3  stopped, but the store was not told how some runs ended\n"
     "  4  the store's file was removed, replaced, emptied or cut off\n"
     "  5  drained, but for runs of jobs that no handler here knows\n"},
    {"Lists which versions of the jobs' schemas the runs in a store were encoded with,\n"
     "one JSON object a line, sorted by queue, job and fingerprint:\n"
     "  "
     "{\"job\":\"shop.send\",\"fingerprint\":\"9c1f0e7ab2d44e10\",\"queue\":\"mail\",\"runs\":12,\n"
     "   \"oldest_ms\":1750000000000,\"scheduled\":0,\"waiting\":12,\"active\":0,\"dead\":0}\n"
     "`runs` counts those that may still be executed; an operator may retry dead ones.\n",
     "Variables as for workers: CULEX_URL, CULEX_URL_FILE, CULEX_PASSWORD,\n"
     "CULEX_PREFIX, CULEX_STORE_TIMEOUT, CULEX_SYNCHRONOUS.\n"
     "Exit status: 0 listed, 1 the store failed, 2 wrong usage, 3 output failed.\n"},
};

void culex__settings_help(FILE *out, enum culex_program owner, const char *program)
{
    fprintf(out, "Usage: %s [OPTION]...\n%s\n", program, helps[owner].head);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (row_is_for(&rows[i], owner))
            help_row(out, &rows[i]);
    }
    fprintf(out, "\n%s", helps[owner].tail);
}
