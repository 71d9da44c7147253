/* sweep_codec - the n-th allocation fails, for every n: encode and decode must say so, leave
 * nothing behind (a sanitizer or valgrind looks), and succeed once there is memory again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_malloc.h"
#include "kitchen.h"

enum { SWEEP_MAX = 1000, NUMBERS = 4000, TEXT_LEN = 9000, SPANS = 500 };

static long calls_left = -1; /* the allocation after so many more fails; -1 for none */

bool malloc_fails(void)
{
    return calls_left >= 0 && calls_left-- == 0;
}

static culex_status encode_once(const struct kitchen *kitchen, culex_error *error)
{
    culex_buf buf;
    culex_buf_init(&buf, 0);
    culex_status status = culex_encode(&kitchen_type, kitchen, &buf, error);
    if (status != CULEX_OK && buf.len != 0)
        abort();
    culex_buf_release(&buf);
    return status;
}

static culex_status decode_once(const culex_buf *text, culex_error *error)
{
    const void *value = NULL;
    culex_arena *arena = culex_arena_create();
    if (arena == NULL) {
        error->code = CULEX_ENOMEM;
        return CULEX_ENOMEM;
    }
    culex_status status = culex_decode(&kitchen_type, arena, text->data, text->len, &value, error);
    if ((status == CULEX_OK) != (value != NULL))
        abort();
    culex_arena_free(arena);
    return status;
}

/* The number of failures before it went through, or -1. */
static int sweep(const struct kitchen *kitchen, const culex_buf *text)
{
    for (int n = 0; n < SWEEP_MAX; n++) {
        culex_error error = {0};
        calls_left = n;
        culex_status status =
            text == NULL ? encode_once(kitchen, &error) : decode_once(text, &error);
        calls_left = -1;
        if (status == CULEX_OK)
            return n;
        if (status != CULEX_ENOMEM || error.code != CULEX_ENOMEM)
            return -1;
    }
    return -1;
}

int main(void)
{
    static int16_t numbers[NUMBERS];
    static struct kitchen_span spans[SPANS];
    static char letters[TEXT_LEN + 1];
    memset(letters, '\n', TEXT_LEN); /* escaped, so decoding resolves it in the arena */
    struct kitchen kitchen = kitchen_make();
    kitchen.text = letters;
    kitchen.numbers = numbers;
    kitchen.numbers_len = NUMBERS;
    kitchen.spans = spans;
    kitchen.spans_len = SPANS;
    culex_buf text;
    culex_buf_init(&text, 0);
    if (culex_encode(&kitchen_type, &kitchen, &text, NULL) != CULEX_OK)
        return 1;
    int encodes = sweep(&kitchen, NULL);
    int decodes = sweep(NULL, &text);
    culex_buf_release(&text);
    printf("allocations that failed in turn: %d to encode, %d to decode\n", encodes, decodes);
    return encodes < 5 || decodes < 4;
}
