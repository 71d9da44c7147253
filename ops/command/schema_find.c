#include "command/schema_find.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <culex/schemas.h>

#include "command/find.h"
#include "command/guess.h"
#include "command/print.h"

enum { FILE_BYTES_MAX = 64 * 1024 };

/* ---- a schema ---------------------------------------------------------------------------------
 */

void ops_schema_release(struct ops_schema *schema)
{
    culex_schema_free(schema->schema);
    *schema = (struct ops_schema){.schema = NULL};
}

static culex_status text_take(const char *text, size_t len, struct ops_schema *schema,
                              culex_error *error)
{
    culex_status status = culex_schema_read(text, len, &schema->schema, error);
    schema->type = culex_schema_type(schema->schema);
    return status;
}

static culex_status registry_read(struct ops *ops, const char *queue, const culex_schema_info *info,
                                  struct ops_schema *schema, culex_error *error)
{
    char *text = NULL;
    size_t len = 0;
    culex_status status = culex_client_schema_text(
        ops->client, queue, info->wire, info->fingerprint, info->digest, &text, &len, error);
    if (status == CULEX_OK)
        status = text_take(text, len, schema, error);
    if (status == CULEX_OK)
        snprintf(schema->queue, sizeof schema->queue, "%s", queue);
    schema->digest = info->digest;
    free(text);
    return status;
}

static bool is_of(const culex_schema_info *info, const char *wire, uint64_t fingerprint)
{
    return strcmp(info->wire, wire) == 0 && (fingerprint == 0 || info->fingerprint == fingerprint);
}

/* The one that was told last. NULL: there is none. */
static const culex_schema_info *newest_find(const culex_schemas *schemas, const char *wire,
                                            uint64_t fingerprint)
{
    for (size_t i = 0; i < schemas->count; i++) {
        if (is_of(&schemas->items[i], wire, fingerprint))
            return &schemas->items[i];
    }
    return NULL;
}

/* What any other text of the version keeps secret. One that has gone meanwhile had no run left. */
static culex_status others_hide(struct ops *ops, const culex_schemas *schemas,
                                const culex_schema_info *own, struct ops_schema *schema,
                                culex_error *error)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < schemas->count && status == CULEX_OK; i++) {
        struct ops_schema other = {.schema = NULL};
        if (&schemas->items[i] == own || !is_of(&schemas->items[i], own->wire, own->fingerprint))
            continue;
        status = registry_read(ops, schema->queue, &schemas->items[i], &other, error);
        if (status == CULEX_OK)
            status = culex_schema_hide(schema->schema, other.schema, error);
        else if (status == CULEX_ENOTFOUND)
            status = CULEX_OK;
        ops_schema_release(&other);
    }
    return status;
}

/* The newest one of the fingerprint, 0: of any. */
static culex_status registry_take(struct ops *ops, const char *queue, const culex_schemas *schemas,
                                  const char *wire, uint64_t fingerprint, struct ops_schema *schema,
                                  culex_error *error)
{
    const culex_schema_info *info = newest_find(schemas, wire, fingerprint);
    if (info == NULL)
        return CULEX_ENOTFOUND;
    culex_status status = registry_read(ops, queue, info, schema, error);
    if (status == CULEX_OK)
        status = others_hide(ops, schemas, info, schema, error);
    if (status != CULEX_OK)
        ops_schema_release(schema);
    return status;
}

/* ---- a file -----------------------------------------------------------------------------------
 */

static culex_status file_take(const char *path, struct ops_schema *schema, culex_error *error)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return ops_usage(error, "--schema %.200s: %s", path, strerror(errno));
    char *text = ops_alloc(NULL, FILE_BYTES_MAX + 1);
    size_t len = fread(text, 1, FILE_BYTES_MAX + 1, file);
    bool is_read = ferror(file) == 0;
    fclose(file);
    culex_status status =
        is_read ? text_take(text, len, schema, error) : ops_usage(error, "%s", strerror(EIO));
    free(text);
    if (status != CULEX_OK) {
        ops_name_failure(status, path, error);
        error->code = status = CULEX_EUSAGE;
    }
    return status;
}

static bool is_job(const culex_job_type *type, const char *job)
{
    return strcmp(type->wire, job) == 0 || strcmp(type->name, job) == 0;
}

/* That of --schema, which must be of the job. */
static culex_status option_take(struct ops *ops, const char *job, struct ops_schema *schema,
                                culex_error *error)
{
    const char *path = ops->options.schema;
    culex_status status = file_take(path, schema, error);
    if (status == CULEX_OK && !is_job(schema->type, job))
        status = ops_usage(error, "--schema %.100s: it is of the job %.100s, not of %.100s", path,
                           schema->type->name, job);
    return status;
}

/* ---- of a run ---------------------------------------------------------------------------------
 */

static culex_status run_find(struct ops *ops, const char *queue, const char *job,
                             uint64_t fingerprint, struct ops_schema *schema, culex_error *error)
{
    culex_schemas *schemas = NULL;
    culex_status status = culex_client_schemas(ops->client, queue, &schemas, error);
    if (status == CULEX_OK)
        status = registry_take(ops, queue, schemas, job, fingerprint, schema, error);
    if (status == CULEX_ENOTFOUND && schemas != NULL)
        status = registry_take(ops, queue, schemas, job, 0, schema, error);
    culex_schemas_free(schemas);
    return status;
}

/* A run is shown without its schema as well: that there is none, or why, is a note. */
static void run_take(struct ops *ops, const char *queue, const char *job, uint64_t fingerprint,
                     struct ops_schema *schema)
{
    culex_error error = {.code = CULEX_OK};
    culex_status status = run_find(ops, queue, job, fingerprint, schema, &error);
    if (status == CULEX_ENOTFOUND)
        snprintf(schema->note, sizeof schema->note, "the store has none of this job");
    else if (status != CULEX_OK)
        snprintf(schema->note, sizeof schema->note, "none: %.150s", error.text);
}

culex_status ops_schema_of_run(struct ops *ops, const char *queue, const char *job,
                               uint64_t fingerprint, struct ops_schema *ret_schema,
                               culex_error *error)
{
    *ret_schema = (struct ops_schema){.schema = NULL};
    culex_status status = CULEX_OK;
    if (ops->options.schema != NULL)
        status = option_take(ops, job, ret_schema, error);
    else
        run_take(ops, queue, job, fingerprint, ret_schema);
    if (status == CULEX_OK && ret_schema->type != NULL &&
        ret_schema->type->fingerprint != fingerprint)
        snprintf(ret_schema->note, sizeof ret_schema->note,
                 "%s, %016" PRIx64 ", not that of this run, %016" PRIx64,
                 ops->options.schema != NULL ? "that of the file" : "the newest one",
                 ret_schema->type->fingerprint, fingerprint);
    if (status != CULEX_OK)
        ops_schema_release(ret_schema);
    return status;
}

/* ---- of a job ---------------------------------------------------------------------------------
 */

/* Offers the jobs of which the queue has schemas; the names live in what is returned. */
static culex_schemas *jobs_guess(struct ops *ops, const char *queue, struct ops_guess *guess)
{
    culex_schemas *schemas = NULL;
    culex_error ignored;
    if (culex_client_schemas(ops->client, queue, &schemas, &ignored) != CULEX_OK)
        return NULL;
    for (size_t i = 0; i < schemas->count; i++)
        ops_guess_add(guess, schemas->items[i].wire);
    return schemas;
}

static culex_status none_say(struct ops *ops, const char *job, const char *best, culex_error *error)
{
    const char *queue = ops->options.queue;
    bool is_command = ops->command != NULL;
    if (best != NULL)
        return ops_usage(error, "there is no schema of %.100s; did you mean %.100s?", job, best);
    return ops_usage(error,
                     "%s%.64s has a schema of the job %.100s; a worker that has the job tells it "
                     "when it starts%s",
                     queue != NULL ? "nothing in queue " : "no queue", queue != NULL ? queue : "",
                     job, is_command ? ", or name a file with its text by --schema" : "");
}

static culex_status none_tell(struct ops *ops, const char *job, const struct ops_names *queues,
                              culex_error *error)
{
    struct ops_guess guess = ops_guess_begin(job, strlen(job));
    culex_schemas **lists = ops_alloc(NULL, (queues->count + 1) * sizeof *lists);
    for (size_t i = 0; i < queues->count; i++)
        lists[i] = jobs_guess(ops, queues->of[i], &guess);
    culex_status status = none_say(ops, job, guess.best, error);
    for (size_t i = 0; i < queues->count; i++)
        culex_schemas_free(lists[i]);
    free(lists);
    return status;
}

/* The queue that the schema itself names keeps it. */
static bool is_at_home(const struct ops_schema *schema)
{
    const culex_job_type *type = schema->type;
    return strcmp(schema->queue, type->queue != NULL ? type->queue : type->wire) == 0;
}

/* A second queue that has the job: that counts which the schema names. When that is open, and they
 * differ, it is open which is meant. Takes `other`. */
static culex_status other_take(struct ops_schema *found, struct ops_schema *other,
                               culex_error *error)
{
    culex_status status = CULEX_OK;
    if (found->digest != other->digest && is_at_home(found) == is_at_home(other)) {
        status = ops_usage(error,
                           "queues %s and %s have different schemas of %.100s: say which by "
                           "--queue",
                           found->queue, other->queue, found->type->name);
    } else if (is_at_home(other)) {
        const struct ops_schema first = *found;
        *found = *other;
        *other = first;
    }
    ops_schema_release(other);
    return status;
}

/* Of what workers at work tell, all is told within so long. */
enum { TOLD_WITHIN_MS = 70 * 60 * 1000 };

/* What the user has to know of the one that was told last. */
static void newest_note(const culex_schemas *schemas, const culex_schema_info *own,
                        struct ops_schema *schema)
{
    long long age_ms = (long long)(schemas->now_ms - own->told_ms);
    size_t beside = 0;
    for (size_t i = 0; i < schemas->count; i++) {
        const culex_schema_info *other = &schemas->items[i];
        beside += other != own && is_of(other, own->wire, 0) &&
                  other->told_ms > own->told_ms - TOLD_WITHIN_MS;
    }
    if (age_ms > TOLD_WITHIN_MS)
        snprintf(schema->note, sizeof schema->note,
                 "nobody has told this schema for %lld minutes: no worker in queue %.64s may have "
                 "the job",
                 age_ms / 60000, schema->queue);
    else if (beside > 0)
        snprintf(schema->note, sizeof schema->note,
                 "%zu other schemas of this job were told within the hour; this is the one that "
                 "was told last",
                 beside);
}

static culex_status queue_take(struct ops *ops, const char *queue, const char *job,
                               struct ops_schema *schema, culex_error *error)
{
    culex_schemas *schemas = NULL;
    culex_status status = culex_client_schemas(ops->client, queue, &schemas, error);
    if (status == CULEX_OK)
        status = registry_take(ops, queue, schemas, job, 0, schema, error);
    if (status == CULEX_OK)
        newest_note(schemas, newest_find(schemas, job, 0), schema);
    culex_schemas_free(schemas);
    return status;
}

static culex_status queues_take(struct ops *ops, const char *job, const struct ops_names *queues,
                                struct ops_schema *schema, culex_error *error)
{
    for (size_t i = 0; i < queues->count; i++) {
        struct ops_schema next = {.schema = NULL};
        culex_status status = queue_take(ops, queues->of[i], job, &next, error);
        if (status == CULEX_ENOTFOUND)
            continue;
        if (status == CULEX_OK && schema->type == NULL) {
            *schema = next;
            continue;
        }
        if (status == CULEX_OK)
            status = other_take(schema, &next, error);
        if (status != CULEX_OK)
            return status;
    }
    return schema->type != NULL ? CULEX_OK : none_tell(ops, job, queues, error);
}

static culex_status job_take(struct ops *ops, const char *job, struct ops_schema *schema,
                             culex_error *error)
{
    struct ops_names queues = {.of = NULL};
    culex_status status = CULEX_OK;
    if (ops->options.queue != NULL) {
        queues.of = ops_alloc(NULL, sizeof *queues.of);
        queues.of[queues.count++] = ops_copy(ops->options.queue, strlen(ops->options.queue));
    } else {
        status = ops_names_read(ops, &queues, error);
    }
    if (status == CULEX_OK)
        status = queues_take(ops, job, &queues, schema, error);
    ops_names_free(&queues);
    return status;
}

culex_status ops_schema_of_job(struct ops *ops, const char *job, struct ops_schema *ret_schema,
                               culex_error *error)
{
    *ret_schema = (struct ops_schema){.schema = NULL};
    culex_status status = ops->options.schema != NULL ? option_take(ops, job, ret_schema, error)
                                                      : job_take(ops, job, ret_schema, error);
    if (status != CULEX_OK)
        ops_schema_release(ret_schema);
    return status;
}
