#include "handler/errand_batch.h"

#include <string.h>

culex_status culex__errand_batch_append(culex_buf *errand, const struct culex_batch_order *order)
{
    struct culex_errand_batch record;
    memset(&record, 0, sizeof record);
    record.order = *order;
    record.order.queue = NULL;
    record.order.call = NULL;
    if (order->call != NULL)
        strncpy(record.call_queue, order->call->queue, sizeof record.call_queue - 1);
    culex_status status = culex__buf_append(errand, &record, sizeof record);
    if (status == CULEX_OK && order->call != NULL)
        status = culex__errand_run_append(errand, &order->call->run);
    return status;
}

/* An act that there is, with a callback if it gives one and else without. */
static bool act_is_sane(enum culex_batch_act act, bool has_call)
{
    switch (act) {
    case CULEX_BATCH_CALL:
    case CULEX_BATCH_AFTER:
        return has_call;
    case CULEX_BATCH_OPEN:
    case CULEX_BATCH_CLOSE:
        return !has_call;
    }
    return false;
}

bool culex__errand_batch_take(struct culex_errand_reader *reader, const char *queue,
                              struct culex_errand_batch_room *room,
                              struct culex_batch_order *ret_order)
{
    struct culex_errand_batch record;
    culex__errand_copy(reader, &record, sizeof record);
    bool has_call = record.call_queue[0] != '\0';
    if (reader->is_short || record.call_queue[sizeof record.call_queue - 1] != '\0' ||
        !act_is_sane(record.order.act, has_call))
        return false;
    *ret_order = record.order;
    ret_order->queue = queue;
    ret_order->call = has_call ? &room->call : NULL;
    memcpy(room->call_queue, record.call_queue, sizeof room->call_queue);
    room->call.queue = room->call_queue;
    return !has_call || culex__errand_run_take(reader, &room->limits, &room->call.run);
}
