#include "command/holder.h"

#include <string.h>

#include <culex/workers.h>

struct search {
    culex_uuid run;
    struct ops_holder *holder;
    bool is_found;
};

static bool worker_see(const culex_worker_info *worker, void *user)
{
    struct search *search = user;
    for (size_t i = 0; i < worker->run_count; i++) {
        if (memcmp(&worker->runs[i].id, &search->run, sizeof search->run) != 0)
            continue;
        struct ops_holder *holder = search->holder;
        snprintf(holder->id, sizeof holder->id, "%s", worker->id);
        snprintf(holder->name, sizeof holder->name, "%s", worker->name);
        snprintf(holder->host, sizeof holder->host, "%s", worker->host);
        holder->pid = worker->pid;
        holder->since_ms = worker->runs[i].since_ms;
        search->is_found = true;
    }
    return !search->is_found;
}

bool ops_holder_find(struct ops *ops, culex_uuid run, struct ops_holder *ret_holder)
{
    struct search search = {.run = run, .holder = ret_holder};
    culex_error ignored;
    culex_status status = culex_client_workers(ops->client, worker_see, &search, &ignored);
    return status == CULEX_OK && search.is_found;
}
