#include "store/digest.h"

static uint64_t digest_mix(uint64_t digest, uint64_t word)
{
    digest = (digest ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return digest ^ digest >> 29;
}

static uint64_t digest_mix_text(uint64_t digest, const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        digest = digest_mix(digest, (unsigned char)*text);
    return digest_mix(digest, UINT64_MAX);
}

uint64_t culex__runs_digest(const struct culex_new_run *runs, size_t count)
{
    uint64_t digest = digest_mix(UINT64_C(0x5a17c0de5eed1e55), count);
    for (size_t i = 0; i < count; i++) {
        digest = digest_mix(digest, runs[i].content);
        digest = digest_mix_text(digest, runs[i].idempotency_key);
    }
    return digest;
}

uint64_t culex__callback_digest(const struct culex_follow_up *call)
{
    const struct culex_new_run *run = &call->run;
    uint64_t digest = digest_mix(culex__runs_digest(run, 1), (uint64_t)run->delay_ms);
    digest = digest_mix(digest, (uint64_t)run->priority);
    digest = digest_mix(digest, (uint64_t)run->expires_ms);
    return digest_mix_text(digest_mix_text(digest, run->tags), call->queue);
}
