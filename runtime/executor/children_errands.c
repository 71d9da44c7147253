/* executor/children_errands.c - what handlers ask of the worker's store, served between two turns.
 *
 * A call to the store may take as long as the store lets it, and meanwhile leases have to be
 * renewed: so after SERVE_MS the rest waits for the next turn, and nobody is served twice before
 * all others. */
#include "executor/children.h"

enum { SERVE_MS = 5 };

static bool wants_service(const struct culex_child_link *child)
{
    return child->state == CULEX_CHILD_LIVE && child->wrong == NULL && child->desk.is_whole;
}

static void errand_serve(struct culex_children *children, struct culex_child_link *child)
{
    const struct culex_executor_config *config = &children->config;
    culex__errand_desk_serve(&child->desk, config->serve, config->serve_user);
}

bool culex__children_errands_serve(struct culex_children *children, int64_t now_ns)
{
    size_t first = children->errand_turn;
    for (size_t i = 0; i < children->slot_count; i++) {
        size_t slot = (first + i) % children->slot_count;
        struct culex_child_link *child = &children->links[slot];
        if (!wants_service(child))
            continue;
        if (culex__children_now_ns(children) - now_ns >= SERVE_MS * CULEX_MS_NS)
            return false;
        errand_serve(children, child);
        children->errand_turn = slot + 1;
    }
    return true;
}
