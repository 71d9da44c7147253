/* fuzz_template - any bytes as the template of a periodic run: refused, or a run that says the same
 * once it was written and read again. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "fuzz.h"
#include "store/template.h"

unsigned fuzz_taken;

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void same_require(const struct culex_new_run *a, const struct culex_new_run *b)
{
    require(a->priority == b->priority && a->attempts_max == b->attempts_max);
    require(a->expires_ms == b->expires_ms && a->retry_for_ms == b->retry_for_ms &&
            a->timeout_ms == b->timeout_ms);
    require(a->keep_success_ms == b->keep_success_ms && a->keep_failure_ms == b->keep_failure_ms);
    require(a->fingerprint == b->fingerprint && a->content == b->content);
    require(strcmp(a->job, b->job) == 0 && strcmp(a->unique_key, b->unique_key) == 0 &&
            strcmp(a->tags, b->tags) == 0);
    require(a->unique_while == b->unique_while && a->unique_for_ms == b->unique_for_ms &&
            a->unique_replaces == b->unique_replaces);
    require(a->payload_len == b->payload_len &&
            memcmp(a->payload, b->payload, a->payload_len) == 0);
}

static void same_limits_require(const struct culex_new_run *a, const struct culex_new_run *b)
{
    require(a->limit_count == b->limit_count);
    for (size_t i = 0; i < a->limit_count; i++) {
        const struct culex_run_limit *left = &a->limits[i], *right = &b->limits[i];
        require(left->kind == right->kind && left->count == right->count &&
                left->per_ms == right->per_ms && left->burst == right->burst);
        require(strcmp(left->name, right->name) == 0 && strcmp(left->key, right->key) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct culex_run_limit limits[CULEX_RUN_LIMITS_MAX], limits_again[CULEX_RUN_LIMITS_MAX];
    struct culex_new_run run, again;
    culex_buf written;
    if (culex__template_read(data, size, limits, &run, NULL) != CULEX_OK)
        return 0;
    fuzz_taken++;
    culex_buf_init(&written, 0);
    require(culex__template_write(&run, &written, NULL) == CULEX_OK);
    require(culex__template_read(written.data, written.len, limits_again, &again, NULL) ==
            CULEX_OK);
    same_require(&run, &again);
    same_limits_require(&run, &again);
    culex_buf_release(&written);
    return 0;
}
