/* ops/command/store.c - culex live, doctor and fsck. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <culex/maintain.h>

#include "command/find.h"
#include "command/print.h"
#include "command/shape.h"

/* --- live ------------------------------------------------------------------------------------- */

struct listing {
    bool is_json, with_ended;
    struct ops_table table;
};

static bool schema_add(const culex_live_schema *schema, void *user)
{
    struct listing *listing = user;
    char fingerprint[20];
    if (listing->is_json) {
        struct ops_json json = {.out = stdout};
        ops_live_json(&json, schema, listing->with_ended);
        ops_json_line_end(&json);
        return !ferror(stdout);
    }
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, schema->fingerprint);
    ops_table_text(&listing->table, schema->queue);
    ops_table_text(&listing->table, schema->job);
    ops_table_text(&listing->table, fingerprint);
    ops_table_count(&listing->table, schema->runs);
    ops_table_count(&listing->table, schema->count[CULEX_RUN_DEAD]);
    ops_table_time(&listing->table, schema->oldest_ms);
    return true;
}

culex_status ops_live(struct ops *ops, culex_error *error)
{
    static const char *const heads[] = {"~QUEUE", "~JOB",    "SCHEMA", ">RUNS",
                                        ">DEAD",  "@OLDEST", NULL};
    struct listing listing = {.is_json = ops->options.wants_json,
                              .with_ended = ops->options.with_ended};
    ops_table_begin(&listing.table, heads);
    culex_status status =
        culex_client_live(ops->client, ops->argument_count > 0 ? ops->arguments[0] : NULL,
                          ops->options.with_ended, schema_add, &listing, error);
    if (status == CULEX_OK && !listing.is_json)
        ops_table_print(&listing.table, stdout);
    ops_table_end(&listing.table);
    return status;
}

/* --- doctor ----------------------------------------------------------------------------------- */

static void reworded_json(struct ops_json *json, const char *name, const char *text)
{
    char *worded = ops_reword(text);
    ops_json_text(json, name, worded);
    free(worded);
}

static void report_json(const culex_doctor_report *report)
{
    struct ops_json json = {.out = stdout};
    ops_json_object(&json, NULL);
    ops_json_text(&json, "worst", culex_severity_name(report->worst));
    ops_json_text(&json, "promise", report->promise);
    ops_json_array(&json, "findings");
    for (size_t i = 0; i < report->finding_count; i++) {
        const culex_finding *finding = &report->findings[i];
        ops_json_object(&json, NULL);
        ops_json_text(&json, "severity", culex_severity_name(finding->severity));
        ops_json_text(&json, "id", finding->id);
        reworded_json(&json, "text", finding->text);
        reworded_json(&json, "advice", finding->advice);
        ops_json_object_end(&json);
    }
    ops_json_array_end(&json);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static culex_status report_print(const culex_doctor_report *report, culex_error *error)
{
    char *text = culex_doctor_report_text(report);
    if (text == NULL)
        return ops_fail(error, CULEX_ENOMEM, "no memory for a report");
    char *worded = ops_reword(text);
    free(text);
    ops_print_text(stdout, worded, strlen(worded), true, 0);
    free(worded);
    return CULEX_OK;
}

culex_status ops_doctor(struct ops *ops, culex_error *error)
{
    const culex_client_options options = {
        .timeout_ms = ops->options.store_timeout / CULEX_MILLISECOND,
        .prefix = ops->options.prefix,
        .url_file = ops->options.url_file,
    };
    culex_doctor_report *report = NULL;
    culex_status status = culex_doctor(ops->options.url, &options, &report, error);
    if (status == CULEX_OK && ops->options.wants_json)
        report_json(report);
    else if (status == CULEX_OK)
        status = report_print(report, error);
    if (status == CULEX_OK && report->worst >= CULEX_SEVERITY_WARNING)
        ops->code = OPS_EXIT_FAILED;
    culex_doctor_report_free(report);
    return status;
}

/* --- fsck ------------------------------------------------------------------------------------- */

static void counts_json(const char *queue, const culex_fsck_counts *counts)
{
    struct ops_json json = {.out = stdout};
    ops_json_object(&json, NULL);
    ops_json_text(&json, "queue", queue);
    ops_json_count(&json, "records", counts->records);
    ops_json_count(&json, "wrong", counts->wrong);
    ops_json_count(&json, "damaged", counts->damaged);
    ops_json_count(&json, "skipped", counts->skipped);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static culex_status queue_check(struct ops *ops, const char *queue, struct ops_table *table,
                                culex_error *error)
{
    culex_fsck_counts counts;
    culex_status status =
        culex_client_fsck(ops->client, queue, ops->options.is_repairing, &counts, error);
    if (status != CULEX_OK)
        return status;
    if (counts.wrong > 0 || counts.damaged > 0)
        ops->code = OPS_EXIT_FAILED;
    if (ops->options.wants_json) {
        counts_json(queue, &counts);
        return CULEX_OK;
    }
    ops_table_text(table, queue);
    ops_table_count(table, counts.records);
    ops_table_count(table, counts.wrong);
    ops_table_count(table, counts.damaged);
    ops_table_count(table, counts.skipped);
    return CULEX_OK;
}

culex_status ops_fsck(struct ops *ops, culex_error *error)
{
    static const char *const heads[] = {"QUEUE",    ">RECORDS", ">WRONG",
                                        ">DAMAGED", ">SKIPPED", NULL};
    return ops_queues_print(ops, heads, queue_check, error);
}
