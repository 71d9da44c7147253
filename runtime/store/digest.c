#include "store/digest.h"

static uint64_t digest_mix(uint64_t digest, uint64_t word)
{
    digest = (digest ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return digest ^ digest >> 29;
}

uint64_t culex__runs_digest(const struct culex_new_run *runs, size_t count)
{
    uint64_t digest = digest_mix(UINT64_C(0x5a17c0de5eed1e55), count);
    for (size_t i = 0; i < count; i++) {
        const char *key = runs[i].idempotency_key != NULL ? runs[i].idempotency_key : "";
        digest = digest_mix(digest, runs[i].content);
        for (; *key != '\0'; key++)
            digest = digest_mix(digest, (unsigned char)*key);
        digest = digest_mix(digest, UINT64_MAX);
    }
    return digest;
}
