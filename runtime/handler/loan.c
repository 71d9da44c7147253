#include "handler/loan.h"

#include <unistd.h>

void culex__loan_init(struct culex_loan *loan, struct culex_errand_way way, int64_t timeout_ms,
                      const struct culex_env *env)
{
    *loan =
        (struct culex_loan){.owner = getpid(), .way = way, .timeout_ms = timeout_ms, .env = env};
    pthread_mutex_init(&loan->lock, NULL);
}

void culex__loan_set_gate(struct culex_loan *loan, struct culex_enqueue_gate gate,
                          const struct culex_keys *keys)
{
    loan->gate = gate;
    loan->keys = keys;
    if (loan->client == NULL)
        return;
    loan->client->gate = gate;
    loan->client->keys = keys;
}

void culex__loan_release(struct culex_loan *loan)
{
    if (loan->client != NULL)
        culex__client_free(loan->client);
    pthread_mutex_destroy(&loan->lock);
}

/* A try may take half of the time of a call, as with every client: so there are two. */
static culex_client *client_make(struct culex_loan *loan)
{
    struct culex_store *store = NULL;
    if (culex__errand_store_open(&loan->way, loan->timeout_ms / 2 + 1, loan->env, &store, NULL) !=
        CULEX_OK)
        return NULL;
    culex_client *client = culex__client_lend(store, loan->timeout_ms, loan->env);
    if (client == NULL)
        return NULL;
    client->is_common = true;
    client->gate = loan->gate;
    client->keys = loan->keys;
    return client;
}

culex_client *culex__loan_client(struct culex_loan *loan)
{
    if (loan->owner != getpid())
        return NULL; /* nor is the lock to be trusted, which a thread of the parent may have had */
    pthread_mutex_lock(&loan->lock);
    if (loan->client == NULL)
        loan->client = client_make(loan);
    culex_client *client = loan->client;
    pthread_mutex_unlock(&loan->lock);
    return client;
}

void culex__loan_give(struct culex_loan *loan)
{
    if (loan->is_withheld)
        culex__turn_give(&loan->client->turn);
    loan->is_withheld = false;
}

void culex__loan_withhold(struct culex_loan *loan)
{
    if (loan->client != NULL)
        loan->is_withheld = culex__turn_take(&loan->client->turn, loan->timeout_ms);
}
