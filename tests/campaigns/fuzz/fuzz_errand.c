/* fuzz_errand - any bytes as what a child asks of its worker's store: refused, or done
 * on a real store in memory, and always answered. */
#include <stdlib.h>
#include <string.h>

#include "handler/errand.h"
#include "fuzz.h"

/* Inputs on one store: what they enqueue does not pile up, and a fault is near its cause. */
enum { STORE_USES = 512 };

unsigned fuzz_taken;

static struct culex_store *store;

static void store_renew(void)
{
    static unsigned uses;
    const struct culex_store_options options = {.timeout_ms = 1000};
    culex_error error;
    if (uses++ % STORE_USES != 0)
        return;
    if (store != NULL)
        store->ops->close(store);
    if (culex__store_open("memory:", &options, culex__env_system(), &store, &error) != CULEX_OK)
        abort();
}

static void answer_check(const culex_buf *answer)
{
    struct culex_errand_answer head;
    if (answer->len < sizeof head)
        abort();
    memcpy(&head, answer->data, sizeof head);
    if (head.status != CULEX_OK && (head.error.code != head.status || head.error.text[0] == '\0'))
        abort();
    fuzz_taken += head.status == CULEX_OK || head.status == CULEX_ENOTFOUND;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    culex_buf answer;
    store_renew();
    culex_buf_init(&answer, CULEX_ERRAND_MAX);
    culex__errand_serve(store, (const char *)data, size, &answer);
    answer_check(&answer);
    culex_buf_release(&answer);
    return 0;
}
