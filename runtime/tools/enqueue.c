/* tools/enqueue.c - culex-enqueue: the way into a store for producers that are not linked with
 * libculex (schemas/plugin.md, "python").
 *
 * On standard input comes request after request: a line of JSON with the job, its policy and the
 * length of the payload, then the payload, then a line end; or a line that asks for a ticket. Each
 * is answered by a line of JSON. All are payloads of structs that are described here, so that the
 * library's codec, which is made for hostile bytes, reads and writes them. A line has no member but
 * these: who misspells "ticket" or "delay" is told so. The store is that of the environment
 * (culex_client_open). */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <culex/culex.h>

#include "base/error.h"
#include "base/limits.h"
#include "client/enqueue.h"
#include "core/codec_decode.h"
#include "core/json.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_OUTPUT = 3 };

#define PROGRAM "culex-enqueue"

/* --- what goes in and out ------------------------------------------------------------------ */

/* What any line may say, beside a request or without one. */
struct preface {
    bool has_number;
    uint64_t number; /* comes back in the answer */
    bool has_new_ticket;
    bool new_ticket;         /* asks for a ticket, and for nothing else */
    bool has_new_id, new_id; /* of versions in which callers gave ids; so is `id` of a request */
};

/* A param that a run is unique by or counted by. */
struct key_part {
    const char *name;  /* in the store */
    const char *value; /* its text in the payload; "" where that lacks it */
};

struct unique {
    const struct key_part *by;
    size_t by_len;
    uint32_t while_states; /* as of culex_unique, with the next two */
    int64_t for_ms;
    culex_on_conflict on_conflict;
    int64_t delay_ms;
};

struct limit {
    culex_limit_kind kind;
    const char *name;
    uint32_t count;
    int64_t per_ms;
    uint32_t burst;
    const struct key_part *by;
    size_t by_len;
};

struct request {
    struct preface preface; /* first, so that its fields are the request's as well */
    const char *job;        /* name in the store */
    const char *queue;
    uint64_t fingerprint;
    int32_t priority;
    uint32_t retries;
    bool has_retry_for_ms;
    int64_t retry_for_ms;
    int64_t timeout_ms, expires_ms, keep_success_ms, keep_failure_ms;
    const char *const *tags;
    size_t tag_count;
    bool has_unique;
    struct unique unique;
    const struct limit *limits;
    size_t limit_count;
    bool has_id;
    const char *id;
    bool has_ticket, has_idempotency_key, has_idempotency_window, has_delay, has_at, has_expires;
    bool has_traceparent, has_tracestate;
    culex_uuid ticket;
    const char *idempotency_key;
    culex_duration idempotency_window;
    culex_duration delay;
    culex_time at;
    culex_duration expires;
    const char *traceparent, *tracestate;
    uint32_t length;
};

struct answer {
    const char *status; /* as culex_status_name has it */
    bool has_id;
    culex_uuid id;
    bool has_ticket; /* a new one, or that of a call that got no answer */
    culex_uuid ticket;
    bool has_outcome;
    culex_enqueue_outcome outcome; /* of a run that was asked for */
    bool has_text;
    const char *text; /* what went wrong */
    bool has_number;
    uint64_t number; /* of the request; left out of the last answer, which ends the program */
};

#define REQUIRED(type, member, of_kind)                                                            \
    {                                                                                              \
        .name = #member, .wire = #member, .kind = of_kind, .flags = CULEX_FIELD_REQUIRED,          \
        .offset = offsetof(struct type, member)                                                    \
    }
#define OPTIONAL(type, member, of_kind)                                                            \
    {                                                                                              \
        .name = #member, .wire = #member, .kind = of_kind, .flags = CULEX_FIELD_OPTIONAL,          \
        .offset = offsetof(struct type, member), .has_offset = offsetof(struct type, has_##member) \
    }

#define LIST(type, member, of_kind, of_struct, most)                                               \
    {                                                                                              \
        .name = #member, .wire = #member, .kind = of_kind, .shape = CULEX_SHAPE_LIST,              \
        .offset = offsetof(struct type, member),                                                   \
        .len_offset = offsetof(struct type, member##_len), .count = (most),                        \
        .struct_type = (of_struct)                                                                 \
    }
#define WORD(type, member, of_enum, ...)                                                           \
    {                                                                                              \
        .name = #member, .wire = #member, .kind = CULEX_KIND_ENUM, .enum_type = (of_enum),         \
        .offset = offsetof(struct type, member), __VA_ARGS__                                       \
    }

#define PREFACE_FIELDS                                                                             \
    OPTIONAL(preface, number, CULEX_KIND_UINT64), OPTIONAL(preface, new_ticket, CULEX_KIND_BOOL),  \
        OPTIONAL(preface, new_id, CULEX_KIND_BOOL)

static const culex_field preface_fields[] = {PREFACE_FIELDS};

static const culex_enum_value conflict_values[] = {{"keep", CULEX_ON_CONFLICT_KEEP, NULL},
                                                   {"replace", CULEX_ON_CONFLICT_REPLACE, NULL},
                                                   {"error", CULEX_ON_CONFLICT_ERROR, NULL}};
static const culex_enum_value limit_values[] = {{"concurrency", CULEX_LIMIT_CONCURRENCY, NULL},
                                                {"rate", CULEX_LIMIT_RATE, NULL},
                                                {"fair", CULEX_LIMIT_FAIR, NULL},
                                                {"needs", CULEX_LIMIT_NEEDS, NULL}};
static const culex_enum_value outcome_values[] = {{"new", CULEX_ENQUEUE_NEW, NULL},
                                                  {"duplicate", CULEX_ENQUEUE_DUPLICATE, NULL},
                                                  {"kept", CULEX_ENQUEUE_KEPT, NULL},
                                                  {"replaced", CULEX_ENQUEUE_REPLACED, NULL},
                                                  {"spooled", CULEX_ENQUEUE_SPOOLED, NULL}};
static const culex_enum_type conflict_type = {"on_conflict", CULEX_KIND_INT32, conflict_values, 3};
static const culex_enum_type limit_kind_type = {"kind", CULEX_KIND_INT32, limit_values, 4};
static const culex_enum_type outcome_type = {"outcome", CULEX_KIND_INT32, outcome_values, 5};
static_assert(sizeof(culex_on_conflict) == 4 && sizeof(culex_limit_kind) == 4 &&
                  sizeof(culex_enqueue_outcome) == 4,
              "as the enum types say");

static const culex_field part_fields[] = {REQUIRED(key_part, name, CULEX_KIND_STRING),
                                          REQUIRED(key_part, value, CULEX_KIND_STRING)};
static const culex_struct_type part_type = {"by", sizeof(struct key_part), part_fields, 2};

static const culex_field unique_fields[] = {
    LIST(unique, by, CULEX_KIND_STRUCT, &part_type, CULEX_FIELDS_MAX),
    REQUIRED(unique, while_states, CULEX_KIND_UINT32),
    REQUIRED(unique, for_ms, CULEX_KIND_INT64),
    WORD(unique, on_conflict, &conflict_type, .flags = CULEX_FIELD_REQUIRED),
    REQUIRED(unique, delay_ms, CULEX_KIND_INT64),
};
static const culex_struct_type unique_type = {"unique", sizeof(struct unique), unique_fields,
                                              sizeof unique_fields / sizeof unique_fields[0]};

static const culex_field limit_fields[] = {
    WORD(limit, kind, &limit_kind_type, .flags = CULEX_FIELD_REQUIRED),
    REQUIRED(limit, name, CULEX_KIND_STRING),
    REQUIRED(limit, count, CULEX_KIND_UINT32),
    REQUIRED(limit, per_ms, CULEX_KIND_INT64),
    REQUIRED(limit, burst, CULEX_KIND_UINT32),
    LIST(limit, by, CULEX_KIND_STRUCT, &part_type, CULEX_FIELDS_MAX),
};
static const culex_struct_type limit_type = {"limit", sizeof(struct limit), limit_fields,
                                             sizeof limit_fields / sizeof limit_fields[0]};

static_assert(offsetof(struct request, preface) == 0, "fields of either have the same offsets");
static const culex_field request_fields[] = {
    PREFACE_FIELDS,
    REQUIRED(request, job, CULEX_KIND_STRING),
    REQUIRED(request, queue, CULEX_KIND_STRING),
    REQUIRED(request, fingerprint, CULEX_KIND_UINT64),
    REQUIRED(request, priority, CULEX_KIND_INT32),
    REQUIRED(request, retries, CULEX_KIND_UINT32),
    OPTIONAL(request, retry_for_ms, CULEX_KIND_INT64),
    REQUIRED(request, timeout_ms, CULEX_KIND_INT64),
    REQUIRED(request, expires_ms, CULEX_KIND_INT64),
    REQUIRED(request, keep_success_ms, CULEX_KIND_INT64),
    REQUIRED(request, keep_failure_ms, CULEX_KIND_INT64),
    {.name = "tags",
     .wire = "tags",
     .kind = CULEX_KIND_STRING,
     .shape = CULEX_SHAPE_LIST,
     .offset = offsetof(struct request, tags),
     .len_offset = offsetof(struct request, tag_count),
     .count = CULEX_TAGS_MAX},
    {.name = "unique",
     .wire = "unique",
     .kind = CULEX_KIND_STRUCT,
     .flags = CULEX_FIELD_OPTIONAL,
     .offset = offsetof(struct request, unique),
     .has_offset = offsetof(struct request, has_unique),
     .struct_type = &unique_type},
    {.name = "limits",
     .wire = "limits",
     .kind = CULEX_KIND_STRUCT,
     .shape = CULEX_SHAPE_LIST,
     .offset = offsetof(struct request, limits),
     .len_offset = offsetof(struct request, limit_count),
     .count = CULEX_RUN_LIMITS_MAX,
     .struct_type = &limit_type},
    OPTIONAL(request, id, CULEX_KIND_STRING),
    OPTIONAL(request, ticket, CULEX_KIND_UUID),
    OPTIONAL(request, idempotency_key, CULEX_KIND_STRING),
    OPTIONAL(request, idempotency_window, CULEX_KIND_DURATION),
    OPTIONAL(request, delay, CULEX_KIND_DURATION),
    OPTIONAL(request, at, CULEX_KIND_TIMESTAMP),
    OPTIONAL(request, expires, CULEX_KIND_DURATION),
    OPTIONAL(request, traceparent, CULEX_KIND_STRING),
    OPTIONAL(request, tracestate, CULEX_KIND_STRING),
    REQUIRED(request, length, CULEX_KIND_UINT32),
};

static const culex_field answer_fields[] = {
    REQUIRED(answer, status, CULEX_KIND_STRING),
    OPTIONAL(answer, id, CULEX_KIND_UUID),
    OPTIONAL(answer, ticket, CULEX_KIND_UUID),
    WORD(answer, outcome, &outcome_type, .flags = CULEX_FIELD_OPTIONAL,
         .has_offset = offsetof(struct answer, has_outcome)),
    OPTIONAL(answer, text, CULEX_KIND_STRING),
    OPTIONAL(answer, number, CULEX_KIND_UINT64),
};

static const culex_struct_type preface_type = {"preface", sizeof(struct preface), preface_fields,
                                               sizeof preface_fields / sizeof preface_fields[0]};
static const culex_struct_type request_type = {"request", sizeof(struct request), request_fields,
                                               sizeof request_fields / sizeof request_fields[0]};
static const culex_struct_type answer_type = {"answer", sizeof(struct answer), answer_fields,
                                              sizeof answer_fields / sizeof answer_fields[0]};
static const culex_struct_type nothing_type = {"nothing", 1, NULL, 0};

/* --- one request --------------------------------------------------------------------------- */

static void key_fill(struct culex_key_maker *maker, const struct key_part *by, size_t count)
{
    culex__key_begin(maker);
    for (size_t i = 0; i < count; i++)
        culex__key_add(maker, by[i].name, by[i].value, strlen(by[i].value));
}

/* A string that lost its quotes would make another key than those of the job's other producers. */
static culex_status parts_check(const char *what, const struct key_part *by, size_t count,
                                culex_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const char *value = by[i].value;
        struct culex__json json = {.start = value, .at = value, .end = value + strlen(value)};
        bool is_text = culex__json_skip(&json, CULEX_PAYLOAD_DEPTH_MAX) == NULL &&
                       json.start < json.at && json.at == json.end;
        if (value[0] != '\0' && !is_text)
            return culex__fail(error, CULEX_EINVAL,
                               "%s: the value of param %zu of 'by' is no JSON as the payload has "
                               "it: a string keeps its quotes, and what the payload lacks is \"\"",
                               what, i + 1);
    }
    return CULEX_OK;
}

static culex_status keys_check(const struct request *request, culex_error *error)
{
    culex_status status = parts_check("unique", request->unique.by, request->unique.by_len, error);
    for (size_t i = 0; i < request->limit_count && status == CULEX_OK; i++) {
        char what[32];
        snprintf(what, sizeof what, "limit %zu", i + 1);
        status = parts_check(what, request->limits[i].by, request->limits[i].by_len, error);
    }
    return status;
}

static void limits_read(const struct request *request, culex_limit limits[CULEX_RUN_LIMITS_MAX])
{
    for (size_t i = 0; i < request->limit_count; i++) {
        const struct limit *from = &request->limits[i];
        limits[i] =
            (culex_limit){from->kind, from->name, from->count, from->per_ms, from->burst, NULL, 0};
    }
}

static culex_unique unique_read(const struct request *request)
{
    const struct unique *from = &request->unique;
    return (culex_unique){.is_unique = request->has_unique,
                          .while_states = from->while_states,
                          .for_ms = from->for_ms,
                          .on_conflict = from->on_conflict,
                          .delay_ms = from->delay_ms};
}

static void keys_fill(const struct request *request, const culex_job_type *type,
                      struct culex_run_keys *keys)
{
    struct culex_key_maker maker;
    culex__run_keys_begin(type, keys);
    if (request->has_unique) {
        key_fill(&maker, request->unique.by, request->unique.by_len);
        culex__key_end_unique(&maker, request->job, keys->unique);
    }
    for (size_t i = 0; i < request->limit_count; i++) {
        key_fill(&maker, request->limits[i].by, request->limits[i].by_len);
        culex__key_end_limit(&maker, keys->keys[i]);
    }
}

static culex_status request_enqueue(culex_client *client, const struct request *request,
                                    culex_bytes payload, culex_uuid *ret_id,
                                    culex_enqueue_outcome *ret_outcome, culex_error *error)
{
    struct culex_run_keys keys;
    culex_limit limits[CULEX_RUN_LIMITS_MAX];
    culex_status status = keys_check(request, error);
    if (status != CULEX_OK)
        return status;
    limits_read(request, limits);
    const culex_job_type type = {
        .descriptor_version = CULEX_DESCRIPTOR_VERSION,
        .name = request->job,
        .wire = request->job,
        .queue = request->queue,
        .params = &nothing_type,
        .fingerprint = request->fingerprint,
        .timeout_ms = request->timeout_ms,
        .expires_ms = request->expires_ms,
        .keep_success_ms = request->keep_success_ms,
        .keep_failure_ms = request->keep_failure_ms,
        .retry = {.max = request->retries, .for_ms = request->retry_for_ms},
        .unique = unique_read(request),
        .limits = limits,
        .limit_count = request->limit_count};
    keys_fill(request, &type, &keys);
    culex_enqueue_options options = culex_enqueue_options_make();
    if (request->has_id)
        return culex__fail(error, CULEX_EINVAL,
                           "'id': the store makes the ids of runs; 'ticket' repeats a call, and "
                           "'idempotency_key' has one run for whatever you would make an id of");
    options.has_priority = true;
    options.priority = request->priority;
    options.tags = request->tags;
    options.tag_count = request->tag_count;
    options.has_ticket = request->has_ticket;
    options.ticket = request->ticket;
    options.idempotency_key = request->has_idempotency_key ? request->idempotency_key : NULL;
    options.has_idempotency_window = request->has_idempotency_window;
    options.idempotency_window = request->idempotency_window;
    options.has_delay = request->has_delay;
    options.delay = request->delay;
    options.has_at = request->has_at;
    options.at = request->at;
    options.has_expires = request->has_expires;
    options.expires = request->expires;
    options.traceparent = request->has_traceparent ? request->traceparent : NULL;
    options.tracestate = request->has_tracestate ? request->tracestate : NULL;
    options.ret_outcomes = ret_outcome;
    return culex__client_enqueue_text(client, &type, payload, &keys, &options, ret_id, error);
}

/* `id` is the run's or a ticket, `outcome` is read where it is a run's. `preface` is NULL in the
 * last answer. False when nobody reads it. */
static bool answer_print(const struct preface *preface, culex_status status, const culex_uuid *id,
                         const culex_enqueue_outcome *outcome, const culex_error *error)
{
    bool is_asked = preface != NULL && preface->new_ticket;
    struct answer answer = {.status = culex_status_name(status),
                            .has_id = (status == CULEX_OK && !is_asked) || status == CULEX_EUNIQUE,
                            .has_ticket =
                                status == CULEX_EUNKNOWN || (status == CULEX_OK && is_asked),
                            .has_text = status != CULEX_OK,
                            .text = status != CULEX_OK ? error->text : NULL};
    culex_buf text;
    if (answer.has_id)
        answer.id = *id;
    if (status == CULEX_OK && outcome != NULL) {
        answer.has_outcome = true;
        answer.outcome = *outcome;
    }
    if (answer.has_ticket)
        answer.ticket = *id;
    if (preface != NULL && preface->has_number) {
        answer.has_number = true;
        answer.number = preface->number;
    }
    culex_buf_init(&text, 0);
    bool is_done = culex_encode(&answer_type, &answer, &text, NULL) == CULEX_OK &&
                   printf("%s\n", text.data) > 0 && fflush(stdout) == 0;
    culex_buf_release(&text);
    return is_done;
}

/* The payload and its line end; false when the input is over before. */
static bool payload_read(char *payload, uint32_t length)
{
    return fread(payload, 1, length, stdin) == length && getchar() == '\n';
}

/* What is no request cannot be told from the next one, so it is the last. */
static int nonsense_answer(culex_status status, const culex_error *error)
{
    culex_uuid none = {{0}};
    answer_print(NULL, status, &none, NULL, error);
    return EXIT_USAGE;
}

static int ticket_serve(culex_client *client, const struct preface *preface, culex_arena *arena,
                        culex_bytes line)
{
    const void *value = NULL;
    culex_error error = {0};
    culex_uuid ticket = {{0}};
    culex_status status =
        culex__decode_exact(&preface_type, arena, line.data, line.len, &value, &error);
    if (status != CULEX_OK)
        return nonsense_answer(status, &error);
    status = culex_client_new_ticket(client, &ticket, &error);
    return answer_print(preface, status, &ticket, NULL, &error) ? 0 : EXIT_OUTPUT;
}

static int run_serve(culex_client *client, const struct preface *preface, culex_arena *arena,
                     char *payload, culex_bytes line)
{
    const void *value = NULL;
    culex_error error = {0};
    culex_uuid id = {{0}};
    culex_enqueue_outcome outcome = CULEX_ENQUEUE_NEW;
    culex_status status =
        culex__decode_exact(&request_type, arena, line.data, line.len, &value, &error);
    const struct request *request = value;
    if (status == CULEX_OK && request->length > CULEX_PAYLOAD_MAX)
        status =
            culex__fail(&error, CULEX_ELIMIT, "a payload has at most %d bytes", CULEX_PAYLOAD_MAX);
    if (status == CULEX_OK && !payload_read(payload, request->length))
        status = culex__fail(&error, CULEX_EDECODE, "the payload is not as long as it was said");
    if (status != CULEX_OK)
        return nonsense_answer(status, &error);
    culex_bytes text = {(const uint8_t *)payload, request->length};
    status = request_enqueue(client, request, text, &id, &outcome, &error);
    return answer_print(preface, status, &id, &outcome, &error) ? 0 : EXIT_OUTPUT;
}

/* Which of the two it is, is looked up before the rest is known. 0 to go on. */
static int line_serve(culex_client *client, culex_arena *arena, char *payload, culex_bytes line)
{
    const void *value = NULL;
    culex_error error = {0};
    culex_status status = culex_decode(&preface_type, arena, line.data, line.len, &value, &error);
    const struct preface *preface = value;
    if (status == CULEX_OK && preface->has_new_id)
        status =
            culex__fail(&error, CULEX_EINVAL,
                        "'new_id': the store makes the ids of runs; 'new_ticket' asks for what "
                        "makes a call repeatable");
    if (status != CULEX_OK)
        return nonsense_answer(status, &error);
    return preface->new_ticket ? ticket_serve(client, preface, arena, line)
                               : run_serve(client, preface, arena, payload, line);
}

static int requests_serve(culex_client *client)
{
    culex_arena *arena = culex_arena_create();
    char *payload = malloc(CULEX_PAYLOAD_MAX);
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    int code = arena == NULL || payload == NULL ? EXIT_FAILED : 0;
    while (code == 0 && (len = getline(&line, &size, stdin)) > 0) {
        code =
            line_serve(client, arena, payload, (culex_bytes){(const uint8_t *)line, (size_t)len});
        culex_arena_reset(arena);
    }
    free(line);
    free(payload);
    culex_arena_free(arena);
    return code;
}

/* --- the program --------------------------------------------------------------------------- */

static int store_serve(void)
{
    culex_client *client = NULL;
    culex_error error = {0};
    culex_uuid none = {{0}};
    culex_status status = culex_client_open(NULL, NULL, &client, &error);
    if (status != CULEX_OK) {
        answer_print(NULL, status, &none, NULL, &error);
        return EXIT_FAILED;
    }
    int code = requests_serve(client);
    culex_client_close(client);
    return code;
}

int main(int argc, char **argv)
{
    static const char help[] =
        "usage: " PROGRAM "\n"
        "Enqueues what programs in other languages write to its standard input, into the store "
        "that\n"
        "CULEX_URL or CULEX_URL_FILE names. 'culexc gen --plugin python' makes such programs.\n";
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return fputs(help, stdout) < 0 || fflush(stdout) != 0 ? EXIT_OUTPUT : EXIT_SUCCESS;
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return puts(PROGRAM " " CULEX_VERSION) < 0 || fflush(stdout) != 0 ? EXIT_OUTPUT
                                                                          : EXIT_SUCCESS;
    if (argc > 1) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    return store_serve();
}
