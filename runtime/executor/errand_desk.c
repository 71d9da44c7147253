#include "executor/errand_desk.h"

#include <assert.h>
#include <string.h>

enum { HEAD = sizeof(struct culex_record) + sizeof(struct culex_record_errand) };

void culex__errand_desk_clear(struct culex_errand_desk *desk)
{
    culex_buf_release(&desk->errand);
    culex_buf_release(&desk->answer);
    desk->is_whole = desk->is_lost = false;
    desk->sent = 0;
}

static void errand_begin(struct culex_errand_desk *desk, uint32_t number)
{
    culex__errand_desk_clear(desk);
    culex_buf_init(&desk->errand, CULEX_ERRAND_MAX);
    culex_buf_init(&desk->answer, CULEX_ERRAND_MAX);
    desk->number = number;
}

const char *culex__errand_desk_take(struct culex_errand_desk *desk,
                                    const struct culex_child_message *message)
{
    if (message->offset == 0)
        errand_begin(desk, message->number);
    if (message->number == desk->number && desk->is_lost)
        return NULL;
    if (message->number != desk->number || desk->is_whole || message->offset != desk->errand.len)
        return "parts of an errand out of order";
    desk->is_lost = culex__buf_append(&desk->errand, message->bytes, message->len) != CULEX_OK;
    desk->is_whole = !desk->is_lost && desk->errand.len == message->total;
    return NULL;
}

void culex__errand_desk_serve(struct culex_errand_desk *desk, culex_errand_serve serve, void *user)
{
    assert(desk->is_whole && !desk->is_lost);
    desk->is_whole = false;
    if (serve != NULL)
        serve(user, desk->errand.data, desk->errand.len, &desk->answer);
    else
        culex__errand_refuse(&desk->answer, CULEX_EUNSUPPORTED, "this worker has no store");
    culex_buf_release(&desk->errand);
}

size_t culex__errand_desk_write(const struct culex_errand_desk *desk, char *packet)
{
    assert(culex__errand_desk_has_answer(desk));
    size_t left = desk->answer.len - desk->sent;
    size_t len = left < CULEX_ERRAND_PART_MAX ? left : CULEX_ERRAND_PART_MAX;
    struct culex_record_errand part = {desk->number, (uint32_t)desk->answer.len,
                                       (uint32_t)desk->sent};
    struct culex_record record = {CULEX_RECORD_ANSWER, (uint32_t)(sizeof part + len), 0};
    memcpy(packet, &record, sizeof record);
    memcpy(packet + sizeof record, &part, sizeof part);
    memcpy(packet + HEAD, desk->answer.data + desk->sent, len);
    return HEAD + len;
}

void culex__errand_desk_sent(struct culex_errand_desk *desk, size_t packet_len)
{
    assert(packet_len > HEAD && packet_len - HEAD <= desk->answer.len - desk->sent);
    desk->sent += packet_len - HEAD;
    if (desk->sent == desk->answer.len) {
        culex_buf_release(&desk->answer);
        desk->sent = 0;
    }
}
