/* executor/children_errands.c - what handlers ask of the worker's store, served between two turns.
 *
 * A call to the store may take as long as the store lets it, and meanwhile leases have to be
 * renewed: so after SERVE_MS the rest waits for the next turn, and nobody is served twice before
 * all others. */
#include "executor/children.h"

enum { SERVE_MS = 5 };

static bool wants_service(const struct culex_handler_process *child)
{
    return child->state == CULEX_HANDLER_LIVE && child->wrong == NULL && child->desk.is_whole;
}

static void errand_serve(struct culex_processes *processes, struct culex_handler_process *child)
{
    const struct culex_executor_config *config = &processes->config;
    culex__errand_desk_serve(&child->desk, config->serve, config->serve_user);
}

bool culex__processes_errands_serve(struct culex_processes *processes, int64_t now_ns)
{
    size_t first = processes->errand_turn;
    for (size_t i = 0; i < processes->child_count; i++) {
        size_t slot = (first + i) % processes->child_count;
        struct culex_handler_process *child = &processes->children[slot];
        if (!wants_service(child))
            continue;
        if (culex__processes_now_ns(processes) - now_ns >= SERVE_MS * CULEX_MS_NS)
            return false;
        errand_serve(processes, child);
        processes->errand_turn = slot + 1;
    }
    return true;
}
