#include "command/options.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "command/fail.h"
#include "command/guess.h"
#include "command/value.h"

enum kind { FLAG, TEXT, COUNT, DURATION, TIME, INSTANT, STATES };

struct option {
    const char *name;
    enum kind kind;
    size_t place;
    const char *value; /* what its value is called; NULL for a flag */
    const char *help;
};

#define AT(member) offsetof(struct ops_options, member)

/* Those that go with every command. */
enum { GLOBAL_COUNT = 8 };

static const struct option table[] = {
    {"url", TEXT, AT(url), "URL", "the store; without it $CULEX_URL, else sqlite:culex.db"},
    {"url-file", TEXT, AT(url_file), "FILE", "a file with the URL, readable by you alone"},
    {"prefix", TEXT, AT(prefix), "NAME", "Redis: first part of every key"},
    {"store-timeout", DURATION, AT(store_timeout), "TIME", "of one call; by default 5s"},
    {"json", FLAG, AT(wants_json), NULL, "print JSON, one value a line"},
    {"wide", FLAG, AT(is_wide), NULL, "do not fit tables to the terminal"},
    {"help", FLAG, AT(wants_help), NULL, "print this help"},
    {"version", FLAG, AT(wants_version), NULL, "print the version"},
    {"queue", TEXT, AT(queue), "QUEUE", "the queue; without it all are looked through"},
    {"state", STATES, AT(states), "STATE,...",
     "scheduled, waiting, active, done, dead or cancelled"},
    {"job", TEXT, AT(job), "JOB", "of this job, as send_email or shop.send_email"},
    {"tag", TEXT, AT(tag), "TAG", "that have this tag; of enqueue: its tags, with commas between"},
    {"error", TEXT, AT(error_part), "TEXT", "whose last error has this text in it"},
    {"since", TIME, AT(since), "TIME", "enqueued then or later: 2h (ago), 2026-11-30T09:30Z"},
    {"before", TIME, AT(before), "TIME", "enqueued before that time"},
    {"limit", COUNT, AT(limit), "N", "at most so many; runs lists 100 without it"},
    {"all", FLAG, AT(is_all), NULL, "all that there are"},
    {"dry-run", FLAG, AT(is_dry), NULL, "only say what would be done"},
    {"yes", FLAG, AT(is_sure), NULL, "do not ask"},
    {"params", FLAG, AT(wants_params), NULL, "params and result too, which may hold secrets"},
    {"timeout", DURATION, AT(timeout), "TIME",
     "wait no longer than this; wait: a day, check: 10s without it"},
    {"for", DURATION, AT(duration), "TIME",
     "go on by itself after this time; bench: each part takes so long"},
    {"delay", DURATION, AT(delay), "TIME", "so long from now"},
    {"at", INSTANT, AT(at), "TIME", "at this time, to come: 2026-11-30T09:30:00Z"},
    {"priority", COUNT, AT(priority), "N", "0 to 9, the greater the sooner"},
    {"dead", FLAG, AT(is_of_dead), NULL, "of dead runs, in place of those that have not ended"},
    {"burst", COUNT, AT(burst), "N", "of a rate: so many may begin at once after a rest"},
    {"hours", COUNT, AT(hours), "N", "of this hour and the ones before it, 1 to 48; by default 2"},
    {"watch", FLAG, AT(is_watching), NULL, "print them again every 2 s, until it is stopped"},
    {"follow", FLAG, AT(is_following), NULL, "go on with what comes, until it is stopped"},
    {"from", TEXT, AT(from), "PLACE",
     "oldest, now, or a position that was printed before; of import: the URL of a store"},
    {"from-file", TEXT, AT(from_file), "FILE", "a file with that URL, readable by you alone"},
    {"move", FLAG, AT(is_move), NULL, "delete there what has come, so that no run is in both"},
    {"copy", FLAG, AT(is_copy), NULL, "also from queues that are at work: runs are executed twice"},
    {"old", FLAG, AT(is_old), NULL, "take a file that is older than 29 days"},
    {"keep", COUNT, AT(keep), "N", "have the queue keep its newest N from now on; 0: none"},
    {"repair", FLAG, AT(is_repairing), NULL, "make the indexes agree with the records"},
    {"by", TEXT, AT(by), "error", "count dead runs by job and error"},
    {"waiting-age", TEXT, AT(waiting_age), "W,C",
     "how long the oldest run waits, since it was due"},
    {"dead-runs", TEXT, AT(dead_runs), "W,C", "how many dead runs a queue has"},
    {"overdue", TEXT, AT(overdue), "W,C", "how late a periodic job is"},
    {"no-worker", TEXT, AT(no_worker), "WHAT",
     "where runs wait and nobody is there: ok, warning or critical (which it is)"},
    {"full", TEXT, AT(full), "WHAT", "the same where a queue is full"},
    {"paused", TEXT, AT(paused), "WHAT", "where runs wait in a paused queue; warning without it"},
    {"unoffered", TEXT, AT(unoffered), "WHAT",
     "where runs need what no worker offers; warning without it"},
    {"given-back", TEXT, AT(given_back), "WHAT",
     "where workers cannot execute runs; warning without it"},
    {"interval", DURATION, AT(interval), "TIME", "read it anew so often; by default 2s"},
    {"once", FLAG, AT(is_once), NULL, "print one frame as text; rates take two, and have none"},
    {"schema", TEXT, AT(schema), "FILE", "a file with the text of the job's schema"},
    {"key", TEXT, AT(key), "KEY", "idempotency key: within a day, one run for a key"},
    {"traceparent", TEXT, AT(traceparent), "TRACEPARENT",
     "the trace that the run is of, as W3C writes it; without it $TRACEPARENT"},
    {"keys", TEXT, AT(keys), "FILE",
     "the keys of encrypted params and results; without it $CULEX_KEYS"},
    {"payload", TEXT, AT(payload), "JSON", "all params as one JSON object; -: from standard input"},
    {"verbose", FLAG, AT(is_verbose), NULL, "what the schema says of each param, too"},
    {"bytes", COUNT, AT(bytes), "N", "of the one param of each run, to 65536; by default 100"},
    {"listen", TEXT, AT(listen), "PLACE", "ADDRESS:PORT or unix:PATH; by default 127.0.0.1:7420"},
    {"base", TEXT, AT(base), "/PATH", "what a proxy puts before all paths"},
    {"host", TEXT, AT(host), "NAME,...", "names besides localhost by which requests may call it"},
    {"tokens", TEXT, AT(tokens), "FILE", "who may do what: lines of ROLE TOKEN [NAME]"},
    {"read-only", FLAG, AT(is_read_only), NULL, "refuse all changes"},
    {"audit", TEXT, AT(audit), "FILE", "where changes are noted; by default standard error"},
    {"connections", COUNT, AT(connections), "N", "most at a time; by default 512"},
    {"openapi", FLAG, AT(wants_openapi), NULL, "print the document of the API, and end"},
    {"ended", FLAG, AT(with_ended), NULL, "count runs that are done or cancelled as well"},
};

enum { TABLE_COUNT = sizeof table / sizeof table[0] };
static_assert(sizeof table / sizeof table[0] <= OPS_OPTIONS_MAX,
              "an element of `is_given` for each");

/* --- names ------------------------------------------------------------------------------------ */

static const struct option *option_find(const char *name, size_t len)
{
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0)
            return &table[i];
    }
    return NULL;
}

bool ops_is_given(const struct ops_options *options, const char *name)
{
    const struct option *option = option_find(name, strlen(name));
    return option != NULL && options->is_given[option - table];
}

static bool is_among(const char *name, const char *names)
{
    size_t len = strlen(name);
    while (*names != '\0') {
        size_t word = strcspn(names, " ");
        if (word == len && memcmp(names, name, len) == 0)
            return true;
        names += word + strspn(names + word, " ");
    }
    return false;
}

static culex_status unknown_tell(const char *name, size_t len, culex_error *error)
{
    struct ops_guess guess = ops_guess_begin(name, len);
    for (size_t i = 0; i < TABLE_COUNT; i++)
        ops_guess_add(&guess, table[i].name);
    if (guess.best != NULL)
        return ops_usage(error, "there is no option --%.*s; did you mean --%s?", (int)len, name,
                         guess.best);
    return ops_usage(error, "there is no option --%.*s", (int)len, name);
}

culex_status ops_options_check(const struct ops_options *options, const char *command,
                               const char *names, culex_error *error)
{
    bool has_timeout = ops_is_given(options, "store-timeout");
    if (has_timeout &&
        (options->store_timeout < 10 * CULEX_MILLISECOND || options->store_timeout > CULEX_DAY))
        return ops_usage(error, "--store-timeout: 10ms to 1d");
    for (size_t i = GLOBAL_COUNT; i < TABLE_COUNT; i++) {
        if (options->is_given[i] && !is_among(table[i].name, names))
            return ops_usage(error, "%s does not take --%s: see culex %s --help", command,
                             table[i].name, command);
    }
    return CULEX_OK;
}

/* --- values ----------------------------------------------------------------------------------- */

static culex_status value_read(const struct option *option, const char *text,
                               struct ops_options *options, culex_error *error)
{
    void *member = (char *)options + option->place;
    switch (option->kind) {
    case FLAG:
        *(bool *)member = true;
        return CULEX_OK;
    case TEXT:
        if (text[0] == '\0')
            return ops_usage(error, "--%s: it is empty", option->name);
        *(const char **)member = text;
        return CULEX_OK;
    case COUNT:
        return ops_value_count(option->name, text, member, error);
    case DURATION:
        return ops_value_duration(option->name, text, member, error);
    case TIME:
        return ops_value_time(option->name, text, member, error);
    case INSTANT:
        return ops_value_instant(option->name, text, member, error);
    case STATES:
        break;
    }
    return ops_value_states(option->name, text, member, error);
}

/* The option of argv[*at], which is left at its last word. */
static culex_status option_read(int argc, char **argv, int *at, struct ops_options *options,
                                culex_error *error)
{
    const char *name = argv[*at] + 2, *value = strchr(name, '=');
    size_t len = value != NULL ? (size_t)(value - name) : strlen(name);
    const struct option *option = option_find(name, len);
    if (option == NULL)
        return unknown_tell(name, len, error);
    if (option->kind == FLAG && value != NULL)
        return ops_usage(error, "--%s takes no value", option->name);
    bool *is_given = &options->is_given[option - table];
    if (*is_given && option->kind != FLAG)
        return ops_usage(error, "--%s is given twice", option->name);
    *is_given = true;
    if (option->kind != FLAG && value == NULL && *at + 1 == argc)
        return ops_usage(error, "--%s wants a value: --%s %s", option->name, option->name,
                         option->value);
    if (option->kind != FLAG)
        value = value != NULL ? value + 1 : argv[++*at];
    return value_read(option, value, options, error);
}

culex_status ops_options_read(int argc, char **argv, struct ops_options *ret_options,
                              size_t *ret_count, culex_error *error)
{
    bool is_over = false;
    *ret_options = (struct ops_options){.url = NULL};
    *ret_count = 0;
    for (int at = 1; at < argc; at++) {
        culex_status status = CULEX_OK;
        if (!is_over && strcmp(argv[at], "--") == 0)
            is_over = true;
        else if (!is_over && strcmp(argv[at], "-h") == 0)
            ret_options->wants_help = true;
        else if (!is_over && strncmp(argv[at], "--", 2) == 0)
            status = option_read(argc, argv, &at, ret_options, error);
        else if (!is_over && argv[at][0] == '-' && argv[at][1] != '\0')
            status = ops_usage(error, "there is no option %s; options have long names", argv[at]);
        else
            argv[(*ret_count)++] = argv[at];
        if (status != CULEX_OK)
            return status;
    }
    return CULEX_OK;
}

/* --- for shells ------------------------------------------------------------------------------- */

bool ops_option_has_value(const char *name)
{
    const struct option *option = option_find(name, strlen(name));
    return option != NULL && option->kind != FLAG;
}

void ops_options_offer(const char *names, const char *word)
{
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        bool is_its = i < GLOBAL_COUNT || is_among(table[i].name, names);
        char text[32];
        snprintf(text, sizeof text, "--%s", table[i].name);
        if (is_its && strncmp(text, word, strlen(word)) == 0)
            puts(text);
    }
}

/* --- help ------------------------------------------------------------------------------------- */

static void help_print(FILE *out, const struct option *option)
{
    enum { WIDTH = 26 };
    int len = fprintf(out, "  --%s%s%s", option->name, option->value != NULL ? " " : "",
                      option->value != NULL ? option->value : "");
    fprintf(out, "%*s%s\n", len < WIDTH ? WIDTH - len : 1, "", option->help);
}

void ops_options_help(FILE *out, const char *names)
{
    for (size_t i = GLOBAL_COUNT; i < TABLE_COUNT; i++) {
        if (is_among(table[i].name, names))
            help_print(out, &table[i]);
    }
}

void ops_options_help_global(FILE *out)
{
    for (size_t i = 0; i < GLOBAL_COUNT; i++)
        help_print(out, &table[i]);
}
