#include "console/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/fail.h"

struct row {
    culex_status status;
    unsigned http;
    const char *code, *hint;
    unsigned retry_after_s;
};

static const char away[] = "the store is away or busy: ask again";

/* What is not here is a fault of this program or of the store: 500. */
static const struct row rows[] = {
    {CULEX_EINVAL, 400, "invalid", NULL, 0},
    {CULEX_EUSAGE, 400, "invalid", NULL, 0},
    {CULEX_EENCODE, 400, "invalid", NULL, 0},
    {CULEX_EDECODE, 400, "invalid", NULL, 0},
    {CULEX_EUNDERSTAND, 400, "invalid", NULL, 0},
    {CULEX_ENOTFOUND, 404, "not_found", NULL, 0},
    {CULEX_ESTATE, 409, "state", NULL, 0},
    {CULEX_ESTALE, 409, "stale", "the run may be another's by now: stop, and claim another", 0},
    {CULEX_EUNIQUE, 409, "unique", NULL, 0},
    {CULEX_ECONFLICT, 409, "conflict",
     "what came first stands: enqueue with another Idempotency-Key; drop another end of a run", 0},
    {CULEX_ELIMIT, 413, "too_large", NULL, 0},
    {CULEX_EFULL, 429, "full", "the queue takes no more runs until some have ended", 5},
    {CULEX_EUNSUPPORTED, 501, "unsupported", NULL, 0},
    {CULEX_ENOKEY, 501, "no_key", "an encrypted param is for programs that have its key", 0},
    {CULEX_ECONNECT, 503, "store_away", away, 2},
    {CULEX_EBUSY, 503, "store_busy", away, 1},
    {CULEX_EUNKNOWN, 503, "unknown",
     "it may have been done or not: ask for the run, or repeat an enqueue with its Idempotency-Key",
     2},
    {CULEX_ESTORE, 503, "store_failed", NULL, 5},
    {CULEX_EREADONLY, 503, "store_read_only", NULL, 5},
    {CULEX_EDENIED, 503, "store_denied", "the store's user needs the rights of an operator", 30},
    {CULEX_EMOVED, 503, "store_moved", away, 1},
    {CULEX_EVERSION, 503, "store_version", "use the programs of the version that made the store",
     60},
};

struct failure failure_make(unsigned status, const char *code, const char *hint, const char *format,
                            ...)
{
    struct failure failure = {.status = status, .code = code, .hint = hint};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure.message, sizeof failure.message, format, arguments);
    va_end(arguments);
    return failure;
}

/* What the library calls members and parameters. */
static const struct ops_word words[] = {
    {"options.idempotency_key is empty: leave it NULL for none",
     "idempotency_key is empty: leave it out for none"},
    {"options.idempotency_key", "idempotency_key"},
    {"options.delay", "delay"},
    {"options.at", "at"},
    {": milliseconds where culex_time_from_unix takes seconds?", ""},
    {"filter.error_part", "error"},
    {"filter.since", "since"},
    {"filter.before", "before"},
    {"filter.states", "state"},
    {"filter.tag", "tag"},
    {"filter.job", "job"},
    {": a culex_time is in nanoseconds; culex_time_from_unix(seconds) makes one", ""},
    {"this is the ticket of an enqueue call and no run's id: repeat that call with it as "
     "options.ticket, and take the id from there",
     "no run has this id"},
    {"waits[0] has the ticket of an enqueue call and no run's id", "no run has this id"},
    {"may be in the store, repeat the call with the ticket that it returns in place of an id until "
     "CULEX_OK",
     "may be in the store"},
    {"may be in the store, repeat the call with the same items until CULEX_OK",
     "may be in the store"},
    {"a try got no answer, and by the next one the ticket was",
     "the store gave no answer, and when it was asked again it was"},
    {"there is no key: name the file of keys in CULEX_KEYS, in `keys` of the options, or of a "
     "worker by --keys",
     "this server has no keys"},
    {"; --delay takes", "; delay takes"},
    {"; --delay 0s", "; a delay of 0s"},
    {NULL, NULL}};

/* The library counts those that it was given at a time, which are not all of the request. */
static const char *item_skip(const char *text)
{
    static const char item[] = "item ";
    size_t digits =
        strncmp(text, item, strlen(item)) == 0 ? strspn(text + strlen(item), "0123456789") : 0;
    const char *behind = text + strlen(item) + digits;
    return digits > 0 && strncmp(behind, ": ", 2) == 0 ? behind + 2 : text;
}

/* "options.delay", "filter.tag". */
static bool is_name(const char *word)
{
    return strncmp(word, "options.", strlen("options.")) == 0 ||
           strncmp(word, "filter.", strlen("filter.")) == 0;
}

/* The library's word for a queue's name that has other letters. */
static bool is_of_queue(const char *text)
{
    static const char begin[] = "queue name '";
    return strncmp(text, begin, sizeof begin - 1) == 0;
}

/* One that begins with a name of the library's is about what is called so here. */
static void words_take(const char *text, struct failure *failure)
{
    char *told = ops_reword_by(words, text);
    snprintf(failure->message, sizeof failure->message, "%s", told);
    if (is_of_queue(text) && failure->param[0] == '\0')
        strcpy(failure->param, "queue");
    for (const struct ops_word *word = words; word->of_c != NULL && failure->param[0] == '\0';
         word++) {
        if (strncmp(text, word->of_c, strlen(word->of_c)) == 0 && is_name(word->of_c))
            snprintf(failure->param, sizeof failure->param, "%.*s", (int)strcspn(word->is, " "),
                     word->is);
    }
    free(told);
}

struct failure failure_of(culex_status status, const culex_error *error)
{
    struct row row = {status, 500, "failed", NULL, 0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].status == status)
            row = rows[i];
    }
    const char *text = error->text[0] != '\0' ? error->text : culex_status_text(status);
    struct failure failure = {.status = row.http, .code = row.code, .hint = row.hint};
    failure.retry_after_s = row.retry_after_s;
    snprintf(failure.param, sizeof failure.param, "%s", error->field);
    words_take(item_skip(text), &failure);
    return failure;
}

void failure_json(struct ops_json *json, const struct failure *failure)
{
    ops_json_object(json, "error");
    ops_json_text(json, "code", failure->code);
    ops_json_text(json, "message", failure->message);
    if (failure->param[0] != '\0')
        ops_json_text(json, "param", failure->param);
    if (failure->hint != NULL)
        ops_json_text(json, "hint", failure->hint);
    if (failure->run[0] != '\0')
        ops_json_text(json, "run", failure->run);
    ops_json_object_end(json);
}
