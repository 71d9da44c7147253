/* culex/schemas.h - the schemas of the jobs in a queue, for programs that were built without them.
 *
 * Payloads and results are texts whose meaning the schema has. A worker tells the store the schema
 * of each job that it has, in each queue that it serves, when it starts and each hour after that. A
 * schema is known by the job's stored name; by its fingerprint, which each run carries
 * (culex_run_info), and which covers what params a payload has; and by a digest of its text, which
 * differs for another default, policy or doc too. A queue has several of a job while programs of
 * several versions are at work.
 * At most 512 are kept in a queue. Clients, threads and errors are as in culex/client.h.
 *
 * In Redis who lists them needs the rights of an operator.
 */
#ifndef CULEX_SCHEMAS_H
#define CULEX_SCHEMAS_H

#include <culex/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The schema of one job, without its text. */
typedef struct culex_schema_info {
    const char *wire;     /* the job's stored name */
    uint64_t fingerprint; /* as culex_run_info has it */
    uint64_t digest;      /* of its text */
    int64_t told_ms; /* when somebody who has the job told it last, within a minute; the store's
                        clock, ms since 1970. A worker tells it at its start, and again within
                        66 minutes */
    size_t text_len; /* bytes of its text */
} culex_schema_info;

typedef struct culex_schemas {
    int64_t now_ms; /* the store's clock, as told_ms */
    size_t count;
    culex_schema_info *items; /* by the stored names, of a job the newest told first */
} culex_schemas;

/* The schemas that `queue` keeps; none of a queue that nobody has used. *ret_schemas is returned
 * owned: free it with culex_schemas_free. The client of a handler (culex_run_client) cannot ask:
 * CULEX_EUNSUPPORTED. */
CULEX_API CULEX_MUST_USE culex_status culex_client_schemas(culex_client *client, const char *queue,
                                                           culex_schemas **ret_schemas,
                                                           culex_error *error);

/* Accepts NULL. */
CULEX_API void culex_schemas_free(culex_schemas *schemas);

/* The text of the schema of the job with stored name `wire`: JSON, valid UTF-8, at most 64 KiB.
 * `fingerprint` or `digest` 0: any; of those that it may be, the one that was told last.
 * CULEX_ENOTFOUND when `queue` keeps none. *ret_text is returned owned, to be given back with
 * free(); a NUL that *ret_len (may be NULL) does not count is behind it. */
CULEX_API CULEX_MUST_USE culex_status culex_client_schema_text(culex_client *client,
                                                               const char *queue, const char *wire,
                                                               uint64_t fingerprint,
                                                               uint64_t digest, char **ret_text,
                                                               size_t *ret_len, culex_error *error);

#ifdef __cplusplus
}
#endif
#endif
