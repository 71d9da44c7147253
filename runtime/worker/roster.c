#include "worker/roster.h"

#include <assert.h>
#include <stdlib.h>

#include "worker/worker_private.h"

bool culex__roster_init(struct culex_lane *lane, size_t room)
{
    size_t count = 1;
    while (count < room)
        count *= 2;
    lane->roster = (struct culex_roster){calloc(count, sizeof *lane->roster.heads), count - 1};
    return lane->roster.heads != NULL;
}

void culex__roster_free(struct culex_lane *lane)
{
    free(lane->roster.heads);
    lane->roster = (struct culex_roster){0};
}

/* Ids of one queue differ in their lower half alone, often by one. */
static struct culex_flight **head_of(const struct culex_lane *lane, culex_uuid id)
{
    uint64_t low = 0;
    for (size_t i = 8; i < sizeof id.b; i++)
        low = low << 8 | id.b[i];
    return &lane->roster.heads[(low * UINT64_C(0x9e3779b97f4a7c15) >> 32) & lane->roster.mask];
}

void culex__roster_add(struct culex_flight *flight)
{
    struct culex_flight **head = head_of(flight->lane, flight->run.facts.id);
    flight->next_in_roster = *head;
    *head = flight;
}

void culex__roster_remove(struct culex_flight *flight)
{
    struct culex_flight **at = head_of(flight->lane, flight->run.facts.id);
    while (*at != flight) {
        assert(*at != NULL);
        at = &(*at)->next_in_roster;
    }
    *at = flight->next_in_roster;
}

struct culex_flight *culex__roster_find(const struct culex_lane *lane, culex_uuid id,
                                        uint32_t attempt)
{
    struct culex_flight *flight = *head_of(lane, id);
    while (flight != NULL && !culex__run_facts_match(&flight->run.facts, id, attempt))
        flight = flight->next_in_roster;
    return flight;
}
