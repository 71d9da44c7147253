#include "worker/share.h"

#include <assert.h>

#include "worker/worker_private.h"

void culex__share_init(struct culex_lane *lane, const struct culex_queue_item *item, size_t rank)
{
    lane->share = (struct culex_share){.rank = rank, .weight = item->weight, .most = item->most};
}

void culex__share_begin(struct culex_lane *lane, uint64_t used)
{
    lane->share.used = used;
    lane->share.rest = 0;
}

/* Its time goes on: what it has used was of the weight that it had. */
void culex__share_set(struct culex_lane *lane, const struct culex_queue_item *item)
{
    lane->share.weight = item->weight;
    lane->share.most = item->most;
}

size_t culex__share_room(const struct culex_lane *lane)
{
    const struct culex_share *share = &lane->share;
    size_t taken = lane->flight_count + lane->granted + share->aside;
    if (share->most == 0)
        return SIZE_MAX;
    return share->most > taken ? share->most - taken : 0;
}

bool culex__share_is_full(const struct culex_lane *lane)
{
    return culex__share_room(lane) == 0;
}

void culex__share_note_aside(struct culex_lane *lane)
{
    lane->share.aside++;
}

void culex__share_note_return(struct culex_lane *lane)
{
    assert(lane->share.aside > 0);
    lane->share.aside--;
}

/* What a division leaves is kept: shares stay exact over any number of runs. */
void culex__share_charge(struct culex_lane *lane, uint64_t from, size_t count)
{
    struct culex_share *share = &lane->share;
    uint64_t cost = count * CULEX_SHARE_UNIT + share->rest;
    share->used = (share->used > from ? share->used : from) + cost / share->weight;
    share->rest = cost % share->weight;
}
