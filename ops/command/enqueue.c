/* ops/command/enqueue.c - culex enqueue. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command/given.h"
#include "command/open.h"
#include "command/payload.h"
#include "command/print.h"
#include "command/schema_find.h"
#include "command/shape.h"
#include "command/trace.h"
#include "command/values.h"

enum { PAYLOAD_MAX = 1024 * 1024, TAGS_MAX = 16 };

/* ---- params -----------------------------------------------------------------------------------
 */

static culex_status stdin_read(char **ret_text, size_t *ret_len, culex_error *error)
{
    char *text = ops_alloc(NULL, PAYLOAD_MAX + 2);
    *ret_len = fread(text, 1, PAYLOAD_MAX + 1, stdin);
    *ret_text = text;
    if (ferror(stdin) != 0)
        return ops_usage(error, "--payload -: standard input cannot be read");
    return *ret_len <= PAYLOAD_MAX
               ? CULEX_OK
               : ops_usage(error, "--payload -: more than %d bytes", PAYLOAD_MAX);
}

/* What --payload has, as the payload that it means. */
static culex_status payload_read(struct ops *ops, const culex_struct_type *type,
                                 culex_buf *ret_payload, culex_error *error)
{
    const char *given = ops->options.payload;
    bool is_stdin = strcmp(given, "-") == 0;
    const struct ops_payload payload = {is_stdin ? "standard input" : "--payload", ret_payload,
                                        error};
    char *read = NULL;
    size_t len = strlen(given);
    culex_status status = CULEX_OK;
    if (ops->argument_count > 1)
        return ops_usage(error, "%s stands beside --payload, which is all params",
                         ops->arguments[1]);
    if (is_stdin)
        status = stdin_read(&read, &len, error);
    if (status == CULEX_OK)
        status =
            ops_payload_object(&payload, type, (struct ops_slice){is_stdin ? read : given, len});
    free(read);
    return status;
}

/* The payload as somebody wrote it: whole, or in words. */
static culex_status params_read(struct ops *ops, const culex_struct_type *type,
                                culex_buf *ret_payload, culex_error *error)
{
    return ops->options.payload == NULL
               ? ops_given_read(type, ops->arguments + 1, ops->argument_count - 1, ret_payload,
                                error)
               : payload_read(ops, type, ret_payload, error);
}

/* A user of this program can give a key. */
static culex_status key_advise(culex_error *error)
{
    char text[sizeof error->text];
    snprintf(text, sizeof text, "%s", error->text);
    return ops_usage(error, "%.600s: culex enqueue --keys FILE has some", text);
}

/* The params in `arena`. The client seals what is encrypted. */
static culex_status params_make(struct ops *ops, const culex_struct_type *type, culex_arena *arena,
                                const void **ret_params, culex_error *error)
{
    culex_buf payload;
    if (ops_has_keys(ops))
        type = ops_type_bare(type, arena);
    if (type == NULL)
        return ops_fail(error, CULEX_ENOMEM, "out of memory");
    culex_buf_init(&payload, 0);
    culex_status status = params_read(ops, type, &payload, error);
    if (status == CULEX_OK)
        status = ops_given_decode(type, (struct ops_slice){payload.data, payload.len}, arena,
                                  ret_params, error);
    free(payload.data);
    return status == CULEX_ENOKEY ? key_advise(error) : status;
}

/* ---- options ----------------------------------------------------------------------------------
 */

/* What is between commas; the texts are in `copy`. */
static culex_status tags_split(char *copy, const char *ret_tags[TAGS_MAX], size_t *ret_count,
                               culex_error *error)
{
    *ret_count = 0;
    for (char *at = copy; at != NULL;) {
        char *comma = strchr(at, ',');
        if (*ret_count == TAGS_MAX)
            return ops_usage(error, "--tag: at most %d tags", TAGS_MAX);
        ret_tags[(*ret_count)++] = at;
        if (comma != NULL)
            *comma++ = '\0';
        at = comma;
    }
    return CULEX_OK;
}

/* What the environment has of no use is ignored, as W3C has it: whoever set it did not mean this
 * program. NULL: none. */
static const char *traceparent_inherited(void)
{
    const char *inherited = getenv("TRACEPARENT");
    if (inherited == NULL || inherited[0] == '\0')
        return NULL;
    if (ops_traceparent_is_good(inherited))
        return inherited;
    ops_failure_print("TRACEPARENT of the environment is no traceparent as W3C writes it, "
                      "00-TRACE_ID-PARENT_ID-FLAGS, and is ignored: the run is of no trace");
    return NULL;
}

static culex_status options_make(const struct ops *ops, culex_enqueue_options *ret_options,
                                 culex_error *error)
{
    const struct ops_options *given = &ops->options;
    *ret_options = culex_enqueue_options_make();
    ret_options->has_delay = ops_is_given(given, "delay");
    ret_options->delay = given->delay;
    ret_options->has_at = ops_is_given(given, "at");
    ret_options->at = given->at;
    ret_options->has_priority = ops_is_given(given, "priority");
    ret_options->priority = given->priority > 9 ? 10 : (int)given->priority;
    ret_options->idempotency_key = given->key;
    ret_options->traceparent =
        given->traceparent != NULL ? given->traceparent : traceparent_inherited();
    ret_options->queue = given->queue; /* else its own, as of a program that was compiled with it */
    if (ret_options->has_delay && ret_options->has_at)
        return ops_usage(error, "--delay and --at: one of them");
    if (ret_options->priority > 9)
        return ops_usage(error, "--priority: 0 to 9");
    return CULEX_OK;
}

/* ---- what is told ------------------------------------------------------------------------------
 */

static const char *queue_of(const culex_job_type *type, const culex_enqueue_options *options)
{
    return options->queue != NULL ? options->queue : type->queue != NULL ? type->queue : type->wire;
}

/* What the client and its rules say of the run, by a store that is gone with this program. */
static culex_status dry_enqueue(const struct ops *ops, const culex_job_type *type,
                                const void *params, const culex_enqueue_options *options,
                                culex_error *error)
{
    const culex_client_options memory = {.keys = ops->options.keys};
    culex_client *client = NULL;
    culex_status status = culex_client_open("memory:", &memory, &client, error);
    if (status == CULEX_OK)
        status = culex_client_enqueue(client, type, params, options, NULL, error);
    culex_client_close(client);
    return status;
}

static void dry_print(const struct ops *ops, const culex_job_type *type, const char *queue,
                      const void *params)
{
    struct ops_values_style style = {.wants_docs = ops->options.is_verbose, .indent = 12};
    struct ops_json json = {.out = stdout};
    if (ops->options.wants_json) {
        ops_json_object(&json, NULL);
        ops_json_bool(&json, "dry_run", true);
        ops_json_text(&json, "queue", queue);
        ops_json_text(&json, "job", type->wire);
        ops_values_json(&json, "param_values", "params_hidden", type->params, params, false);
        ops_json_object_end(&json);
        ops_json_line_end(&json);
        return;
    }
    printf("would enqueue one run of %s in %s\nparams      ", type->name, queue);
    ops_values_print(stdout, type->params, params, &style);
}

/* Why an ID is not that of a new run. */
static const char *outcome_note(culex_enqueue_outcome outcome)
{
    switch (outcome) {
    case CULEX_ENQUEUE_DUPLICATE:
        return "  (that of this key: nothing came in)";
    case CULEX_ENQUEUE_KEPT:
        return "  (unique: that run stays as it is, and stands for this one)";
    case CULEX_ENQUEUE_REPLACED:
        return "  (unique: that run has these params now)";
    default:
        return "";
    }
}

static void run_tell(const struct ops *ops, const culex_job_type *type, const char *queue,
                     culex_uuid id, culex_enqueue_outcome outcome)
{
    char text[CULEX_UUID_TEXT_SIZE];
    struct ops_json json = {.out = stdout};
    culex_uuid_format(id, text);
    if (!ops->options.wants_json) {
        printf("%s%s\n", text, outcome_note(outcome));
        return;
    }
    ops_enqueued_json(&json, id, queue, type->wire, outcome);
    ops_json_line_end(&json);
}

/* A run that nobody knows of would be enqueued again. */
static void run_keep(const char *queue, culex_uuid id)
{
    char told[160], text[CULEX_UUID_TEXT_SIZE];
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    culex_uuid_format(id, text);
    snprintf(told, sizeof told, "the run is enqueued, in %.64s: %s", queue, text);
    ops_failure_print(told);
}

/* ---- the run ------------------------------------------------------------------------------------
 */

static culex_status run_enqueue(struct ops *ops, const struct ops_schema *schema,
                                culex_enqueue_options *options, culex_arena *arena,
                                culex_error *error)
{
    const culex_job_type *type = schema->type;
    culex_enqueue_outcome outcome = CULEX_ENQUEUE_NEW;
    const void *params = NULL;
    culex_uuid id;
    culex_status status = params_make(ops, type->params, arena, &params, error);
    if (status != CULEX_OK)
        return status;
    if (ops->options.is_dry) {
        status = dry_enqueue(ops, type, params, options, error);
        if (status == CULEX_OK)
            dry_print(ops, type, queue_of(type, options), params);
        return status;
    }
    options->ret_outcomes = &outcome;
    status = culex_client_enqueue(ops->client, type, params, options, &id, error);
    options->ret_outcomes = NULL;
    if (status != CULEX_OK)
        return status;
    signal(SIGPIPE, SIG_IGN); /* where nobody reads, run_keep tells */
    run_tell(ops, type, queue_of(type, options), id, outcome);
    run_keep(queue_of(type, options), id);
    return CULEX_OK;
}

static culex_status tagged_enqueue(struct ops *ops, const struct ops_schema *schema,
                                   culex_error *error)
{
    const char *tags[TAGS_MAX];
    const char *given = ops->options.tag;
    char *copy = ops_copy(given != NULL ? given : "", given != NULL ? strlen(given) : 0);
    culex_arena *arena = culex_arena_create();
    culex_enqueue_options options;
    culex_status status = options_make(ops, &options, error);
    if (status == CULEX_OK && given != NULL) {
        options.tags = tags;
        status = tags_split(copy, tags, &options.tag_count, error);
    }
    if (status == CULEX_OK)
        status = run_enqueue(ops, schema, &options, arena, error);
    culex_arena_free(arena);
    free(copy);
    return status;
}

/* A worker tells all its jobs in each queue that it serves. */
static void queue_note(const struct ops *ops, const struct ops_schema *schema)
{
    const culex_job_type *type = schema->type;
    const char *own = type->queue != NULL ? type->queue : type->wire;
    if (ops->options.queue == NULL && schema->queue[0] != '\0' && strcmp(schema->queue, own) != 0)
        fprintf(stderr,
                "culex: it goes into its own queue %s, in which no worker has told this job; "
                "--queue names another\n",
                own);
}

culex_status ops_enqueue(struct ops *ops, culex_error *error)
{
    struct ops_schema schema;
    culex_status status = ops_schema_of_job(ops, ops->arguments[0], &schema, error);
    if (status == CULEX_OK && culex_schema_is_retired(schema.schema))
        status = ops_usage(error,
                           "the job %.100s is retired: its workers end each run of it dead, and "
                           "none is enqueued",
                           schema.type->name);
    if (status == CULEX_OK)
        queue_note(ops, &schema);
    if (status == CULEX_OK && schema.note[0] != '\0')
        fprintf(stderr, "culex: %s\n", schema.note);
    if (status == CULEX_OK)
        status = tagged_enqueue(ops, &schema, error);
    ops_schema_release(&schema);
    return status;
}
