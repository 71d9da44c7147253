#include "worker/unread.h"

#include <stdlib.h>
#include <string.h>

#include "worker/lane.h"

enum { UNREAD_MAX = 16384, ROOM_FIRST = 16 };

/* Where `id` stands, or would. */
static size_t place_find(const struct culex_unread *unread, culex_uuid id)
{
    size_t low = 0, high = unread->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memcmp(unread->ids[middle].b, id.b, sizeof id.b) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool room_make(struct culex_lane *lane)
{
    size_t room = lane->unread.room > 0 ? 2 * lane->unread.room : ROOM_FIRST;
    if (lane->unread.count < lane->unread.room)
        return true;
    if (room > UNREAD_MAX)
        return false;
    culex_uuid *ids = realloc(lane->unread.ids, room * sizeof *ids);
    if (ids == NULL)
        return false;
    lane->unread.ids = ids;
    lane->unread.room = room;
    return true;
}

bool culex__unread_has(const struct culex_lane *lane, culex_uuid id)
{
    const struct culex_unread *unread = &lane->unread;
    size_t place = place_find(unread, id);
    return place < unread->count && memcmp(unread->ids[place].b, id.b, sizeof id.b) == 0;
}

void culex__unread_note(struct culex_lane *lane, culex_uuid id)
{
    if (culex__unread_has(lane, id) || !room_make(lane))
        return;
    size_t place = place_find(&lane->unread, id);
    culex_uuid *at = lane->unread.ids + place;
    memmove(at + 1, at, (lane->unread.count - place) * sizeof *at);
    *at = id;
    lane->unread.count++;
}

void culex__unread_free(struct culex_lane *lane)
{
    free(lane->unread.ids);
    lane->unread = (struct culex_unread){0};
}
