#include "client/after.h"

#include <string.h>

static culex_uuid id_mark(culex_uuid id)
{
    id.b[6] = (unsigned char)((id.b[6] & 0x0f) | 0x40);
    id.b[8] = (unsigned char)((id.b[8] & 0x3f) | 0x80);
    return id;
}

culex_uuid culex__batch_id_draw(const struct culex_env *env)
{
    uint64_t words[2] = {culex__env_random(env), culex__env_random(env)};
    culex_uuid id;
    memcpy(id.b, words, sizeof id.b);
    return id_mark(id);
}

culex_uuid culex__batch_id_end(struct culex_sha256 *hash)
{
    unsigned char digest[CULEX_SHA256_BYTES];
    culex_uuid id;
    culex__sha256_end(hash, digest);
    memcpy(id.b, digest, sizeof id.b);
    return id_mark(id);
}

/* The same for each call with this key. */
static culex_uuid id_derive(const char *queue, culex_uuid after, culex_batch_when when,
                            const char *target, const char *key)
{
    const unsigned char kind = (unsigned char)when;
    struct culex_sha256 hash;
    culex__sha256_begin(&hash);
    culex__sha256_add(&hash, &kind, 1);
    culex__sha256_add(&hash, after.b, sizeof after.b);
    culex__sha256_add(&hash, queue, strlen(queue) + 1);
    culex__sha256_add(&hash, target, strlen(target) + 1);
    culex__sha256_add(&hash, key, strlen(key));
    return culex__batch_id_end(&hash);
}

struct culex_batch_order culex__after_order(const struct culex_env *env, const char *queue,
                                            culex_uuid after, culex_batch_when when,
                                            const struct culex_follow_up *call, const char *key,
                                            int64_t window_ms)
{
    struct culex_batch_order order = {.act = CULEX_BATCH_AFTER,
                                      .queue = queue,
                                      .run = after,
                                      .keep_ms = key != NULL ? window_ms : CULEX_TICKET_HORIZON_MS,
                                      .when = when,
                                      .call = call};
    if (when == CULEX_BATCH_MEMBER)
        order.when = CULEX_BATCH_ON_SUCCESS;
    order.id = key != NULL ? id_derive(queue, after, order.when, call->queue, key)
                           : culex__batch_id_draw(env);
    return order;
}
