#include "command/record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/base64.h"
#include "command/guess.h"
#include "command/json_read.h"
#include "command/print.h"
#include "command/run_print.h"

static const char *const line_names[OPS_LINE_KIND_COUNT] = {"export", "queue", "limit", "run",
                                                            "end"};
static const char *const limit_kinds[] = {"concurrency", "rate", "fair", "needs"};

enum { LIMIT_KIND_COUNT = sizeof limit_kinds / sizeof limit_kinds[0] };

const char *ops_limit_kind_name(culex_limit_kind kind)
{
    return (unsigned)kind < LIMIT_KIND_COUNT ? limit_kinds[kind] : "unknown";
}

bool ops_record_limits_cut(char *text, struct ops_record *record)
{
    record->limit_count = 0;
    while (*text != '\0') {
        char *end = text + strcspn(text, ";"), *key = memchr(text, '=', (size_t)(end - text));
        bool is_last = *end == '\0';
        if (key == NULL || record->limit_count == OPS_LIMITS_MAX)
            return false;
        *key++ = *end = '\0';
        record->limits[record->limit_count++] = (culex_transfer_limit){.name = text, .key = key};
        text = is_last ? end : end + 1;
    }
    return true;
}

/* --- written ---------------------------------------------------------------------------------- */

/* As text where that is all harmless, else as base64: either way the very bytes. */
static void bytes_print(struct ops_json *json, const char *name, const char *base64_name,
                        culex_bytes bytes)
{
    const char *text = (const char *)bytes.data;
    if (bytes.len == 0)
        return;
    if (ops_is_harmless(text, bytes.len)) {
        ops_json_text_of(json, name, text, bytes.len);
        return;
    }
    char *base64 = ops_base64_write(bytes.data, bytes.len);
    ops_json_text(json, base64_name, base64);
    free(base64);
}

static void value_print(struct ops_json *json, const culex_limit_value *value)
{
    ops_json_count(json, "count", value->count);
    ops_json_int(json, "per_ms", value->per_ms);
    ops_json_count(json, "burst", value->burst);
}

static void limits_print(struct ops_json *json, const struct ops_record *record)
{
    ops_json_array(json, "limits");
    for (size_t i = 0; i < record->limit_count; i++) {
        const culex_transfer_limit *limit = &record->limits[i];
        ops_json_object(json, NULL);
        ops_json_text(json, "kind", ops_limit_kind_name(limit->kind));
        ops_json_text(json, "name", limit->name);
        ops_json_text(json, "key", limit->key);
        value_print(json, &limit->value);
        ops_json_object_end(json);
    }
    ops_json_array_end(json);
}

static void states_print(struct ops_json *json, const char *name, unsigned states)
{
    ops_json_array(json, name);
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        if ((states & CULEX_LIST_STATE(state)) != 0)
            ops_json_text(json, NULL, culex_run_state_name((culex_run_state)state));
    }
    ops_json_array_end(json);
}

static void run_print(struct ops_json *json, const struct ops_record *record)
{
    const culex_run_info *run = &record->run;
    ops_run_json(json, run);
    ops_json_int(json, "timeout_ms", run->timeout_ms);
    ops_json_int(json, "retry_for_ms", run->retry_for_ms);
    ops_json_int(json, "keep_success_ms", run->keep_success_ms);
    ops_json_int(json, "keep_failure_ms", run->keep_failure_ms);
    if (run->unique_key[0] != '\0') {
        ops_json_text(json, "unique_key", run->unique_key);
        states_print(json, "unique_while", run->unique_while);
        ops_json_int(json, "unique_until_ms", run->unique_until_ms);
    }
    limits_print(json, record);
    ops_json_bool(json, "is_member", run->is_member);
    ops_json_text(json, "error", run->error_text);
    bytes_print(json, "result", "result_base64", run->result);
    bytes_print(json, "payload", "payload_base64", run->payload);
}

void ops_record_print(FILE *out, const struct ops_record_line *line)
{
    struct ops_json json = {.out = out};
    ops_json_object(&json, NULL);
    ops_json_text(&json, "line", line_names[line->kind]);
    switch (line->kind) {
    case OPS_LINE_EXPORT:
        ops_json_count(&json, "version", line->version);
        ops_json_text(&json, "program", line->program);
        ops_json_text(&json, "store", line->store);
        ops_json_int(&json, "exported_at_ms", line->exported_at_ms);
        break;
    case OPS_LINE_QUEUE:
        ops_json_text(&json, "queue", line->record.run.queue);
        ops_json_bool(&json, "is_paused", line->is_paused);
        ops_json_int(&json, "capacity", line->capacity);
        ops_json_int(&json, "dead_limit", line->dead_limit);
        break;
    case OPS_LINE_LIMIT:
        ops_json_text(&json, "queue", line->record.run.queue);
        ops_json_text(&json, "name", line->limit.name);
        value_print(&json, &line->limit.value);
        break;
    case OPS_LINE_RUN:
        run_print(&json, &line->record);
        break;
    case OPS_LINE_END:
    case OPS_LINE_KIND_COUNT:
        ops_json_int(&json, "runs", line->runs);
        break;
    }
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

/* --- read ------------------------------------------------------------------------------------- */

enum member_kind {
    TEXT,
    NUMBER,
    SMALL,
    DIGIT,
    TRUTH,
    ID,
    FINGERPRINT,
    STATE,
    STATES,
    TAGS,
    LIMITS,
    LIMIT_KIND,
    BYTES,
    BASE64
};

/* Bits of kinds of lines. */
enum {
    EXPORT = 1 << OPS_LINE_EXPORT,
    QUEUE = 1 << OPS_LINE_QUEUE,
    LIMIT = 1 << OPS_LINE_LIMIT,
    RUN = 1 << OPS_LINE_RUN,
    END = 1 << OPS_LINE_END,
    NEEDED = 1 << OPS_LINE_KIND_COUNT
};

struct member {
    const char *name;
    enum member_kind kind;
    size_t place;
    unsigned lines; /* that have it, and whether they have to */
};

#define AT(member)   offsetof(struct ops_record_line, member)
#define OF(member)   offsetof(struct ops_record_line, record.run.member)
#define WITH(member) offsetof(culex_transfer_limit, member)

static const struct member members[] = {
    {"version", SMALL, AT(version), EXPORT | NEEDED},
    {"program", TEXT, AT(program), EXPORT},
    {"store", TEXT, AT(store), EXPORT},
    {"exported_at_ms", NUMBER, AT(exported_at_ms), EXPORT | NEEDED},
    {"queue", TEXT, OF(queue), QUEUE | LIMIT | RUN | NEEDED},
    {"is_paused", TRUTH, AT(is_paused), QUEUE | NEEDED},
    {"capacity", NUMBER, AT(capacity), QUEUE},
    {"dead_limit", NUMBER, AT(dead_limit), QUEUE},
    {"name", TEXT, AT(limit.name), LIMIT | NEEDED},
    {"count", SMALL, AT(limit.value.count), LIMIT},
    {"per_ms", NUMBER, AT(limit.value.per_ms), LIMIT},
    {"burst", SMALL, AT(limit.value.burst), LIMIT},
    {"runs", NUMBER, AT(runs), END | NEEDED},
    {"id", ID, OF(id), RUN | NEEDED},
    {"job", TEXT, OF(job), RUN | NEEDED},
    {"state", STATE, OF(state), RUN | NEEDED},
    {"priority", DIGIT, OF(priority), RUN},
    {"attempt", SMALL, OF(attempt), RUN},
    {"attempts_max", SMALL, OF(attempts_max), RUN | NEEDED},
    {"failures", SMALL, OF(failures), RUN},
    {"crashes", SMALL, OF(crashes), RUN},
    {"losses", SMALL, OF(losses), RUN},
    {"created_at_ms", NUMBER, OF(created_at_ms), RUN},
    {"at_ms", NUMBER, OF(at_ms), RUN},
    {"expires_at_ms", NUMBER, OF(expires_at_ms), RUN},
    {"cancel_requested", TRUTH, OF(cancel_requested), RUN},
    {"fingerprint", FINGERPRINT, OF(fingerprint), RUN | NEEDED},
    {"tags", TAGS, OF(tags), RUN},
    {"timeout_ms", NUMBER, OF(timeout_ms), RUN},
    {"retry_for_ms", NUMBER, OF(retry_for_ms), RUN},
    {"keep_success_ms", NUMBER, OF(keep_success_ms), RUN | NEEDED},
    {"keep_failure_ms", NUMBER, OF(keep_failure_ms), RUN | NEEDED},
    {"unique_key", TEXT, OF(unique_key), RUN},
    {"unique_while", STATES, OF(unique_while), RUN},
    {"unique_until_ms", NUMBER, OF(unique_until_ms), RUN},
    {"limits", LIMITS, AT(record), RUN},
    {"is_member", TRUTH, OF(is_member), RUN},
    {"error", TEXT, OF(error_text), RUN},
    {"result", BYTES, OF(result), RUN},
    {"result_base64", BASE64, OF(result), RUN},
    {"payload", BYTES, OF(payload), RUN},
    {"payload_base64", BASE64, OF(payload), RUN},
};

/* Of one that stands in "limits". */
static const struct member limit_members[] = {
    {"kind", LIMIT_KIND, WITH(kind), RUN | NEEDED},
    {"name", TEXT, WITH(name), RUN | NEEDED},
    {"key", TEXT, WITH(key), RUN},
    {"count", SMALL, WITH(value.count), RUN},
    {"per_ms", NUMBER, WITH(value.per_ms), RUN},
    {"burst", SMALL, WITH(value.burst), RUN},
};

struct reading {
    culex_arena *arena;
    culex_error *error;
    const struct member *members;
    size_t count;
    unsigned line; /* the bit of its kind */
};

static culex_status object_read(const struct reading *reading, struct ops_slice text,
                                void *ret_struct);

/* --- values ----------------------------------------------------------------------------------- */

static bool number_read(struct ops_slice value, int64_t most, int64_t *ret_number)
{
    return ops_json_read_int(value, ret_number) && *ret_number >= 0 && *ret_number <= most;
}

static bool word_read(const struct reading *reading, struct ops_slice value, char **ret_word)
{
    size_t len;
    return ops_json_read_text(value, reading->arena, ret_word, &len);
}

static bool fingerprint_read(const struct reading *reading, struct ops_slice value, uint64_t *to)
{
    char *word, *end;
    if (!word_read(reading, value, &word) || strlen(word) != 16 ||
        strspn(word, "0123456789abcdef") != 16)
        return false;
    *to = strtoull(word, &end, 16);
    return true;
}

static bool state_read(const struct reading *reading, struct ops_slice value, culex_run_state *to)
{
    char *word;
    if (!word_read(reading, value, &word))
        return false;
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        *to = (culex_run_state)state;
        if (strcmp(word, culex_run_state_name(*to)) == 0)
            return true;
    }
    return false;
}

/* To the end of a list that ops_scan_next has gone through. */
static bool is_over(const struct ops_scan *scan)
{
    return scan->at + 1 == scan->end && *scan->at == (scan->is_object ? '}' : ']');
}

static bool states_read(const struct reading *reading, struct ops_slice value, unsigned *to)
{
    struct ops_scan scan;
    struct ops_slice name, item;
    culex_run_state state;
    if (!ops_scan_begin(value, &scan) || scan.is_object)
        return false;
    while (ops_scan_next(&scan, &name, &item)) {
        if (!state_read(reading, item, &state))
            return false;
        *to |= CULEX_LIST_STATE(state);
    }
    return is_over(&scan);
}

/* A list of texts; with commas between them afterwards. */
static bool tags_read(const struct reading *reading, struct ops_slice value, char **to)
{
    struct ops_scan scan;
    struct ops_slice name, item;
    char *text = culex_arena_alloc(reading->arena, value.len + 1), *at = text, *word;
    if (text == NULL || !ops_scan_begin(value, &scan) || scan.is_object)
        return false;
    while (ops_scan_next(&scan, &name, &item)) {
        if (!word_read(reading, item, &word) || word[0] == '\0' || strchr(word, ',') != NULL)
            return false;
        if (at > text)
            *at++ = ',';
        at = stpcpy(at, word);
    }
    *to = text;
    return is_over(&scan);
}

static bool limit_kind_read(const struct reading *reading, struct ops_slice value,
                            culex_limit_kind *to)
{
    char *word;
    if (!word_read(reading, value, &word))
        return false;
    for (int kind = 0; kind < (int)LIMIT_KIND_COUNT; kind++) {
        *to = (culex_limit_kind)kind;
        if (strcmp(word, limit_kinds[kind]) == 0)
            return true;
    }
    return false;
}

static bool limits_read(const struct reading *reading, struct ops_slice value,
                        struct ops_record *record)
{
    const struct reading inner = {reading->arena, reading->error, limit_members,
                                  sizeof limit_members / sizeof limit_members[0], RUN};
    struct ops_scan scan;
    struct ops_slice name, item;
    if (!ops_scan_begin(value, &scan) || scan.is_object)
        return false;
    while (ops_scan_next(&scan, &name, &item)) {
        if (record->limit_count == OPS_LIMITS_MAX ||
            object_read(&inner, item, &record->limits[record->limit_count++]) != CULEX_OK)
            return false;
    }
    return is_over(&scan);
}

static bool bytes_read(const struct reading *reading, struct ops_slice value, bool is_base64,
                       culex_bytes *to)
{
    char *text;
    size_t len;
    if (to->data != NULL || !ops_json_read_text(value, reading->arena, &text, &len))
        return false;
    *to = (culex_bytes){(const uint8_t *)text, len};
    if (!is_base64)
        return true;
    uint8_t *bytes = culex_arena_alloc(reading->arena, ops_base64_size(len) + 1);
    to->data = bytes;
    return bytes != NULL && ops_base64_read(text, len, bytes, &to->len);
}

static bool value_read(const struct reading *reading, const struct member *member,
                       struct ops_slice value, void *ret_struct)
{
    void *to = (char *)ret_struct + member->place;
    int64_t number = 0;
    bool is_good = false;
    char *word;
    switch (member->kind) {
    case TEXT:
        return word_read(reading, value, to);
    case NUMBER:
        return number_read(value, INT64_MAX, to);
    case SMALL:
        is_good = number_read(value, UINT32_MAX, &number);
        *(uint32_t *)to = (uint32_t)number;
        return is_good;
    case DIGIT:
        is_good = number_read(value, 9, &number);
        *(int *)to = (int)number;
        return is_good;
    case TRUTH:
        return ops_json_read_bool(value, to);
    case ID:
        return word_read(reading, value, &word) && culex_uuid_parse(word, to);
    case FINGERPRINT:
        return fingerprint_read(reading, value, to);
    case STATE:
        return state_read(reading, value, to);
    case STATES:
        return states_read(reading, value, to);
    case TAGS:
        return tags_read(reading, value, to);
    case LIMITS:
        return limits_read(reading, value, to);
    case LIMIT_KIND:
        return limit_kind_read(reading, value, to);
    case BYTES:
    case BASE64:
        break;
    }
    return bytes_read(reading, value, member->kind == BASE64, to);
}

static const char *expected(enum member_kind kind)
{
    static const char *const words[] = {
        [TEXT] = "a text",
        [NUMBER] = "a whole number, 0 or more",
        [SMALL] = "a whole number of 32 bits",
        [DIGIT] = "0 to 9",
        [TRUTH] = "true or false",
        [ID] = "the id of a run",
        [FINGERPRINT] = "a text of 16 hex digits",
        [STATE] = "scheduled, waiting, active, done, dead or cancelled",
        [STATES] = "a list of states",
        [TAGS] = "a list of texts without commas",
        [LIMITS] = "a list of at most 9 limits",
        [LIMIT_KIND] = "concurrency, rate, fair or needs",
        [BYTES] = "a text, and the only one of its bytes",
        [BASE64] = "base64, and the only text of its bytes",
    };
    return words[kind];
}

/* --- objects ---------------------------------------------------------------------------------- */

static culex_status name_refuse(const struct reading *reading, struct ops_slice name)
{
    struct ops_guess guess = ops_guess_begin(name.text, name.len);
    int len = name.len < 48 ? (int)name.len : 48;
    for (size_t i = 0; i < reading->count; i++) {
        if ((reading->members[i].lines & reading->line) != 0)
            ops_guess_add(&guess, reading->members[i].name);
    }
    if (guess.best != NULL)
        return ops_usage(reading->error, "it has no member %.*s; did you mean %s?", len, name.text,
                         guess.best);
    return ops_usage(reading->error, "it has no member %.*s", len, name.text);
}

/* The number of the member; `count` for none. */
static size_t member_find(const struct reading *reading, struct ops_slice name)
{
    size_t at = 0;
    while (at < reading->count && ((reading->members[at].lines & reading->line) == 0 ||
                                   !ops_slice_is(name, reading->members[at].name)))
        at++;
    return at;
}

static culex_status member_read(const struct reading *reading, struct ops_slice name,
                                struct ops_slice value, uint64_t *seen, void *ret_struct)
{
    size_t at = member_find(reading, name);
    if (at == reading->count)
        return name_refuse(reading, name);
    const struct member *member = &reading->members[at];
    if ((*seen >> at & 1) != 0)
        return ops_usage(reading->error, "%s is there twice", member->name);
    *seen |= UINT64_C(1) << at;
    reading->error->text[0] = '\0';
    if (value_read(reading, member, value, ret_struct))
        return CULEX_OK;
    if (reading->error->text[0] != '\0') /* of what is in it */
        return ops_name_failure(CULEX_EUSAGE, member->name, reading->error);
    return ops_usage(reading->error, "%s is to be %s", member->name, expected(member->kind));
}

static culex_status object_read(const struct reading *reading, struct ops_slice text,
                                void *ret_struct)
{
    struct ops_scan scan;
    struct ops_slice name, value;
    uint64_t seen = 0;
    culex_status status = CULEX_OK;
    if (!ops_scan_begin(text, &scan) || !scan.is_object)
        return ops_usage(reading->error, "it is no JSON object");
    while (status == CULEX_OK && ops_scan_next(&scan, &name, &value)) {
        if (reading->members != members || !ops_slice_is(name, "line"))
            status = member_read(reading, name, value, &seen, ret_struct);
    }
    if (status == CULEX_OK && !is_over(&scan))
        return ops_usage(reading->error, "it is no JSON object, or breaks off, at letter %zu",
                         (size_t)(scan.at - text.text) + 1);
    for (size_t i = 0; i < reading->count && status == CULEX_OK; i++) {
        unsigned lines = reading->members[i].lines;
        if ((lines & NEEDED) != 0 && (lines & reading->line) != 0 && (seen >> i & 1) == 0)
            return ops_usage(reading->error, "%s is missing", reading->members[i].name);
    }
    return status;
}

/* By the first member. */
static bool kind_read(struct ops_slice text, enum ops_line_kind *ret_kind)
{
    struct ops_scan scan;
    struct ops_slice name, value;
    if (!ops_scan_begin(text, &scan) || !scan.is_object || !ops_scan_next(&scan, &name, &value) ||
        !ops_slice_is(name, "line") || value.len < 2)
        return false;
    const struct ops_slice word = {value.text + 1, value.len - 2};
    for (int kind = 0; kind < OPS_LINE_KIND_COUNT; kind++) {
        *ret_kind = (enum ops_line_kind)kind;
        if (ops_slice_is(word, line_names[kind]))
            return true;
    }
    return false;
}

static const char *text_or_empty(const char *text)
{
    return text != NULL ? text : "";
}

/* What a run may be without. */
static void record_complete(struct ops_record *record)
{
    culex_run_info *run = &record->run;
    char **const texts[] = {&run->tags, &run->error_text, &run->unique_key};
    static char nothing[] = "";
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (*texts[i] == NULL)
            *texts[i] = nothing;
    }
    for (size_t i = 0; i < record->limit_count; i++)
        record->limits[i].key = text_or_empty(record->limits[i].key);
}

culex_status ops_record_read(struct ops_slice text, culex_arena *arena,
                             struct ops_record_line *ret_line, culex_error *error)
{
    struct reading reading = {arena, error, members, sizeof members / sizeof members[0], 0};
    *ret_line = (struct ops_record_line){.version = 0};
    if (!kind_read(text, &ret_line->kind))
        return ops_usage(error, "it is no line of an export: each is a JSON object that begins "
                                "with \"line\"");
    reading.line = 1U << ret_line->kind;
    culex_status status = object_read(&reading, text, ret_line);
    const char *queue = ret_line->record.run.queue;
    char ignored[OPS_QUEUE_SIZE];
    if (status == CULEX_OK && queue != NULL)
        status = ops_value_queue("queue", queue, ignored, error);
    record_complete(&ret_line->record);
    return status;
}
