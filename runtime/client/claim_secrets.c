#include "client/claim_secrets.h"

#include <stdlib.h>
#include <string.h>

/* A value of each kind and as it stands in a payload, as a worker has room for. */
enum { TEXTS_MAX = 16 * CULEX_PAYLOAD_MAX, KEEP_BYTES = 64 * 1024 };

struct culex_claim_secrets *culex__claim_secrets_create(culex_uuid id)
{
    struct culex_claim_secrets *secrets = malloc(sizeof *secrets);
    if (secrets == NULL)
        return NULL;
    *secrets = (struct culex_claim_secrets){.id = id};
    culex_buf_init(&secrets->texts, TEXTS_MAX);
    return secrets;
}

void culex__claim_secrets_free(struct culex_claim_secrets *secrets)
{
    if (secrets == NULL)
        return;
    culex_buf_release(&secrets->texts);
    free(secrets);
}

/* Ids of a queue count up in their last byte. */
static size_t place_of(culex_uuid id)
{
    return id.b[sizeof id.b - 1] % CULEX_CLAIM_SECRETS;
}

static struct culex_claim_secrets *place_swap(struct culex_claiming *claiming, size_t place,
                                              struct culex_claim_secrets *secrets)
{
    return atomic_exchange(&claiming->secrets[place], secrets);
}

struct culex_claim_secrets *culex__claim_secrets_take(culex_client *client, culex_uuid id)
{
    struct culex_claim_secrets *secrets = place_swap(&client->claiming, place_of(id), NULL);
    if (secrets == NULL)
        return NULL;
    bool is_right = memcmp(&secrets->id, &id, sizeof id) == 0;
    if (is_right &&
        (secrets->until_ms == 0 || culex__env_boottime_ms(client->env) < secrets->until_ms))
        return secrets;
    if (is_right)
        culex__claim_secrets_free(secrets);
    else
        culex__claim_secrets_put(client, secrets);
    return NULL;
}

void culex__claim_secrets_put(culex_client *client, struct culex_claim_secrets *secrets)
{
    if (secrets->texts.cap <= KEEP_BYTES)
        secrets = place_swap(&client->claiming, place_of(secrets->id), secrets);
    culex__claim_secrets_free(secrets);
}

void culex__claim_secrets_drop(struct culex_claiming *claiming)
{
    for (size_t i = 0; i < CULEX_CLAIM_SECRETS; i++)
        culex__claim_secrets_free(place_swap(claiming, i, NULL));
}
