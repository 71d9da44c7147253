/* client/maintain.c - doctor and fsck: the operator's questions, carried to the store. */
#include <culex/maintain.h>

#include "base/error.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "client/client_private.h"
#include "client/queue_doctor.h"

/* --- doctor ---------------------------------------------------------------------------- */

static culex_status doctor_call(struct culex_store *store, void *arg, culex_error *error)
{
    culex_doctor_report **ret_report = arg;
    struct culex_report *report = culex__report_create();
    if (report == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a report");
    culex_status status = store->ops->doctor(store, report, error);
    if (status != CULEX_OK) {
        culex__report_free(report);
        return status;
    }
    culex__queues_examine(store, report);
    *ret_report = culex__report_finish(report);
    if (*ret_report == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a report");
    return CULEX_OK;
}

culex_status culex_client_doctor(culex_client *client, culex_doctor_report **ret_report,
                                 culex_error *error)
{
    if (ret_report != NULL)
        *ret_report = NULL;
    if (client == NULL || ret_report == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client or no place for the report");
    return culex__client_perform(client, doctor_call, ret_report, error);
}

/* Why the store cannot be opened, as a report. */
static culex_status doctor_refused(const culex_error *refusal, culex_doctor_report **ret_report,
                                   culex_error *error)
{
    struct culex_report *report = culex__report_create();
    if (report != NULL) {
        culex__report_promise(report, "The store cannot be used: it promises nothing.");
        culex__report_add(report, CULEX_SEVERITY_ERROR, "open", NULL, "%s: %s",
                          culex_status_text(refusal->code), refusal->text);
        *ret_report = culex__report_finish(report);
    }
    if (report == NULL || *ret_report == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a report");
    return CULEX_OK;
}

culex_status culex_doctor(const char *url, const culex_client_options *options,
                          culex_doctor_report **ret_report, culex_error *error)
{
    culex_client *client = NULL;
    culex_error refusal = {0};
    if (ret_report == NULL)
        return culex__fail(error, CULEX_EINVAL, "no place for the report");
    *ret_report = NULL;
    culex_status status = culex__client_open_existing(url, options, &client, &refusal);
    if (status == CULEX_OK)
        status = culex_client_doctor(client, ret_report, &refusal);
    culex_client_close(client);
    if (status != CULEX_OK)
        return doctor_refused(&refusal, ret_report, error);
    return CULEX_OK;
}

/* --- fsck ------------------------------------------------------------------------------ */

struct fsck_call {
    const char *queue;
    uint64_t cursor;
    bool is_repairing;
    struct culex_fsck_reply reply;
};

static culex_status fsck_call(struct culex_store *store, void *arg, culex_error *error)
{
    struct fsck_call *call = arg;
    return store->ops->fsck(store, call->queue, call->cursor, call->is_repairing, &call->reply,
                            error);
}

/* A name that nobody has used must not look sound. */
static culex_status fsck_judge(culex_client *client, const char *queue,
                               const culex_fsck_counts *counts, culex_error *error)
{
    bool is_found = counts->records + counts->wrong + counts->damaged > 0;
    return is_found ? CULEX_OK : culex__client_queue_judge(client, queue, error);
}

culex_status culex_client_fsck(culex_client *client, const char *queue, bool is_repairing,
                               culex_fsck_counts *ret_counts, culex_error *error)
{
    if (client == NULL || ret_counts == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client or no place for the counts");
    culex_status status = culex__queue_check(queue, error);
    struct fsck_call call = {.queue = queue, .is_repairing = is_repairing};
    *ret_counts = (culex_fsck_counts){0};
    while (status == CULEX_OK) {
        status = culex__client_perform(client, fsck_call, &call, error);
        if (status != CULEX_OK)
            break;
        ret_counts->records += call.reply.counts.records;
        ret_counts->wrong += call.reply.counts.wrong;
        ret_counts->damaged += call.reply.counts.damaged;
        ret_counts->skipped += call.reply.counts.skipped;
        call.cursor = call.reply.cursor;
        if (call.cursor == 0)
            break;
    }
    return status == CULEX_OK ? fsck_judge(client, queue, ret_counts, error) : status;
}
