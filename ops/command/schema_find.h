/* ops/command/schema_find.h - the schema of a job: from a file, or as the store has it. */
#ifndef OPS_COMMAND_SCHEMA_FIND_H
#define OPS_COMMAND_SCHEMA_FIND_H

#include <culex/schema.h>

#include "command/command.h"
#include "command/value.h"

/* A schema that was found. */
struct ops_schema {
    culex_schema *schema; /* NULL: none */
    const culex_job_type *type;
    culex_client *keys; /* that opens what is encrypted, when it is asked for; NULL: nothing does */
    char queue[OPS_QUEUE_SIZE]; /* that keeps it; "" for that of a file */
    uint64_t digest;            /* of its text; 0 for that of a file */
    char note[160]; /* for people: which one it is, or why there is none; "" when it is the one */
};

/* That of a run: --schema, else of its queue that of its own version, else the newest. Secret in it
 * is what any text of its version says is secret. CULEX_OK without one when the store has none that
 * can be read. CULEX_EUSAGE for a file that is no schema,
 * or of another job. */
culex_status ops_schema_of_run(struct ops *ops, const char *queue, const char *job,
                               uint64_t fingerprint, struct ops_schema *ret_schema,
                               culex_error *error);
/* The newest one of a job, by its name or that in the store: --schema, else of --queue, else of
 * whichever queue has it. CULEX_EUSAGE when there is none, or more than one that differ. Its note
 * says what speaks against it: another one is told beside it, or nobody tells it any more. */
culex_status ops_schema_of_job(struct ops *ops, const char *job, struct ops_schema *ret_schema,
                               culex_error *error);
void ops_schema_release(struct ops_schema *schema);

#endif
