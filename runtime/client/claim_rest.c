#include "client/claim_rest.h"

/* A little less, for who sleeps so long since his own look shall take the next. */
enum { REST_MS = CULEX_CLAIM_REST_MS * 9 / 10 };

/* FNV-1a. Two that are alike make their looks rarer, and nothing else. */
static uint32_t text_mix(uint32_t mark, const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        mark = (mark ^ (unsigned char)*text) * UINT32_C(16777619);
    return (mark ^ 255) * UINT32_C(16777619);
}

static uint32_t mark_of(const char *queue, const culex_claim_options *options)
{
    uint32_t mark = text_mix(text_mix(UINT32_C(2166136261), queue), options->offers);
    for (size_t i = 0; i < options->job_count; i++)
        mark = text_mix(mark, options->jobs[i]);
    return mark;
}

/* Above the mark stands when its last look began. A slot may be another's by now, who then looks as
 * if alone. */
bool culex__claim_may_look(culex_client *client, const char *queue,
                           const culex_claim_options *options)
{
    uint32_t mark = mark_of(queue, options);
    uint32_t now_ms = (uint32_t)culex__env_boottime_ms(client->env);
    atomic_uint_fast64_t *slot = &client->claiming.looks[mark % CULEX_CLAIM_LOOKS];
    uint_fast64_t last = atomic_load(slot);
    if ((uint32_t)last == mark && now_ms - (uint32_t)(last >> 32) < REST_MS)
        return false;
    return atomic_compare_exchange_strong(slot, &last, (uint64_t)now_ms << 32 | mark) ||
           (uint32_t)last != mark;
}

void culex__claim_look_again(culex_client *client, const char *queue,
                             const culex_claim_options *options)
{
    atomic_store(&client->claiming.looks[mark_of(queue, options) % CULEX_CLAIM_LOOKS], 0);
}
