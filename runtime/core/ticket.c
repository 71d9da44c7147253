#include "core/ticket.h"

#include <assert.h>

#include "base/bigendian.h"

struct culex_ticket culex__ticket_next(struct culex_ticket *last, int64_t now_ms)
{
    uint64_t first = now_ms > 0 ? (uint64_t)now_ms << 12 : 0;
    assert(last->producer != 0 && last->producer <= CULEX_TICKET_PRODUCER_MAX);
    last->sequence = first > last->sequence ? first : last->sequence + 1;
    return *last;
}

culex_uuid culex__ticket_format(struct culex_ticket ticket)
{
    culex_uuid text;
    assert(ticket.sequence >> 60 == 0 && ticket.producer <= CULEX_TICKET_PRODUCER_MAX);
    culex__bigendian_put(text.b, 6, ticket.sequence >> 12);
    culex__bigendian_put(text.b + 6, 2, 0x8000 | (ticket.sequence & 0xfff));
    culex__bigendian_put(text.b + 8, 8, UINT64_C(2) << 62 | ticket.producer);
    return text;
}

bool culex__ticket_parse(culex_uuid text, struct culex_ticket *ret_ticket)
{
    uint64_t middle = culex__bigendian_get(text.b + 6, 2),
             last = culex__bigendian_get(text.b + 8, 8);
    struct culex_ticket ticket = {last & CULEX_TICKET_PRODUCER_MAX,
                                  culex__bigendian_get(text.b, 6) << 12 | (middle & 0xfff)};
    if (middle >> 12 != 8 || last >> 62 != 2 || ticket.producer == 0)
        return false;
    *ret_ticket = ticket;
    return true;
}
