/* core/ticket.h - what makes an enqueue call repeatable: who makes it, and which of his calls it
 * is.
 *
 * A store remembers the last call of each producer in each queue, and answers its repeat instead of
 * doing it again. Who gets no answer goes on as another producer, so that the call stays the last
 * one of the old. Sequences hold their time: a store that has forgotten a producer by now refuses
 * what is too old to be new for certain (CULEX_TICKET_HORIZON_MS of run_rules.def).
 *
 * As a UUID it is of version 8, which no run's id is:
 *
 *     sequence:48 (ms since 1970)  1000  sequence:12 (counted within the ms)  10  producer:62 */
#ifndef CULEX_CORE_TICKET_H
#define CULEX_CORE_TICKET_H

#include <stdbool.h>

#include <culex/types.h>

#define CULEX_TICKET_PRODUCER_MAX ((UINT64_C(1) << 62) - 1)

struct culex_ticket {
    uint64_t producer; /* 62 random bits, not all 0 */
    uint64_t sequence; /* grows from call to call: ms since 1970 * 4096 + count, below 2^60 */
};

static inline int64_t culex__ticket_ms(struct culex_ticket ticket)
{
    return (int64_t)(ticket.sequence >> 12);
}

/* The same producer's next one, at `now_ms` by the store's clock as far as it is known. `last` is
 * changed; its sequence is 0 at first. */
struct culex_ticket culex__ticket_next(struct culex_ticket *last, int64_t now_ms);

culex_uuid culex__ticket_format(struct culex_ticket ticket);

/* False for what is no ticket. */
bool culex__ticket_parse(culex_uuid text, struct culex_ticket *ret_ticket);

#endif
