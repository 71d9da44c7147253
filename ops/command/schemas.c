/* ops/command/schemas.c - culex schemas. */
#include <inttypes.h>
#include <stdio.h>

#include <culex/schemas.h>

#include "command/command.h"
#include "command/find.h"
#include "command/print.h"
#include "command/shape.h"

enum { HEX_SIZE = 17 };

static void schema_row(struct ops_table *table, const char *queue, const culex_schema_info *schema,
                       const char *fingerprint, const char *digest)
{
    ops_table_text(table, queue);
    ops_table_text(table, schema->wire);
    ops_table_text(table, fingerprint);
    ops_table_text(table, digest);
    ops_table_time(table, schema->told_ms);
    ops_table_count(table, schema->text_len);
}

static void schema_line(const char *queue, const culex_schema_info *schema)
{
    struct ops_json json = {.out = stdout};
    ops_schema_json(&json, queue, schema);
    ops_json_line_end(&json);
}

static culex_status queue_add(struct ops *ops, const char *queue, struct ops_table *table,
                              culex_error *error)
{
    culex_schemas *schemas;
    culex_queue_stats ignored; /* that tell whether there is such a queue */
    char fingerprint[HEX_SIZE], digest[HEX_SIZE];
    culex_status status = culex_client_stats(ops->client, queue, &ignored, error);
    if (status == CULEX_OK)
        status = culex_client_schemas(ops->client, queue, &schemas, error);
    if (status != CULEX_OK)
        return status;
    for (size_t i = 0; i < schemas->count; i++) {
        const culex_schema_info *schema = &schemas->items[i];
        snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, schema->fingerprint);
        snprintf(digest, sizeof digest, "%016" PRIx64, schema->digest);
        if (ops->options.wants_json)
            schema_line(queue, schema);
        else
            schema_row(table, queue, schema, fingerprint, digest);
    }
    culex_schemas_free(schemas);
    return CULEX_OK;
}

culex_status ops_schemas(struct ops *ops, culex_error *error)
{
    static const char *const heads[] = {"QUEUE", "JOB",    "FINGERPRINT", "DIGEST",
                                        "TOLD",  ">BYTES", NULL};
    return ops_queues_print(ops, heads, queue_add, error);
}
