#include "handler/follow_up.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/queue_name.h"
#include "handler/errand_run.h"

/* Where the text begins, and each of its entries. */
struct head {
    uint32_t count; /* of the text's first entry: how many there are */
    uint32_t queue_len;
};

static uint32_t count_of(const culex_buf *buf)
{
    struct head head = {0};
    if (buf->len > 0)
        memcpy(&head, buf->data, sizeof head);
    return head.count;
}

static void count_set(culex_buf *buf, uint32_t count)
{
    struct head head;
    memcpy(&head, buf->data, sizeof head);
    head.count = count;
    memcpy(buf->data, &head, sizeof head);
}

culex_status culex__follow_up_append(culex_buf *buf, const char *queue,
                                     const struct culex_new_run *run, culex_error *error)
{
    struct head head = {.queue_len = (uint32_t)strlen(queue)};
    size_t before = buf->len;
    uint32_t count = count_of(buf);
    if (count >= CULEX_FOLLOW_UPS_MAX)
        return culex__fail(error, CULEX_ELIMIT,
                           "a run has at most %d follow-ups; one of them may enqueue more",
                           CULEX_FOLLOW_UPS_MAX);
    culex_status status = culex__buf_append(buf, &head, sizeof head);
    if (status == CULEX_OK)
        status = culex__buf_append(buf, queue, head.queue_len + 1);
    if (status == CULEX_OK)
        status = culex__errand_run_append(buf, run);
    if (status == CULEX_OK) {
        count_set(buf, count + 1);
        return CULEX_OK;
    }
    culex__buf_cut(buf, before);
    return culex__fail(error, status,
                       status == CULEX_ELIMIT
                           ? "the follow-ups of a run take at most %d bytes together"
                           : "no memory for a follow-up, of at most %d bytes",
                       CULEX_FOLLOW_UP_BYTES_MAX);
}

/* --- reading ----------------------------------------------------------------------------- */

/* One block: the follow-ups, and behind them their limits. */
struct room {
    struct culex_follow_up *all;
    struct culex_errand_limits *limits;
};

static bool room_make(size_t count, struct room *ret_room)
{
    ret_room->all = calloc(count, sizeof *ret_room->all + sizeof *ret_room->limits);
    if (ret_room->all == NULL)
        return false;
    ret_room->limits = (struct culex_errand_limits *)(void *)(ret_room->all + count);
    return true;
}

static bool one_take(struct culex_errand_reader *reader, struct culex_errand_limits *limits,
                     struct culex_follow_up *ret_one)
{
    struct head head;
    culex__errand_copy(reader, &head, sizeof head);
    if (reader->is_short || head.queue_len > CULEX_QUEUE_NAME_MAX)
        return false;
    ret_one->queue = culex__errand_take(reader, (size_t)head.queue_len + 1);
    return ret_one->queue != NULL && ret_one->queue[head.queue_len] == '\0' &&
           culex__queue_check(ret_one->queue, NULL) == CULEX_OK &&
           culex__errand_run_take(reader, limits, &ret_one->run);
}

static bool all_take(const char *bytes, size_t len, size_t count, struct room *room)
{
    struct culex_errand_reader reader = {.at = bytes, .left = len};
    bool is_good = true;
    for (size_t i = 0; i < count && is_good; i++)
        is_good = one_take(&reader, &room->limits[i], &room->all[i]);
    return is_good && reader.left == 0;
}

culex_status culex__follow_ups_read(const char *bytes, size_t len, struct culex_follow_up **ret_all,
                                    size_t *ret_count, culex_error *error)
{
    struct head head = {0};
    struct room room;
    *ret_all = NULL;
    *ret_count = 0;
    if (len == 0)
        return CULEX_OK;
    if (len >= sizeof head)
        memcpy(&head, bytes, sizeof head);
    if (head.count == 0 || head.count > CULEX_FOLLOW_UPS_MAX)
        return culex__fail(error, CULEX_EINVAL, "follow-ups of an impossible number");
    if (!room_make(head.count, &room))
        return culex__fail(error, CULEX_ENOMEM, "no memory for the follow-ups");
    if (!all_take(bytes, len, head.count, &room)) {
        free(room.all);
        return culex__fail(error, CULEX_EINVAL,
                           "its follow-ups cannot be read: the memory of its process is damaged");
    }
    *ret_all = room.all;
    *ret_count = head.count;
    return CULEX_OK;
}
