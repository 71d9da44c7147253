/* fuzz_payload - any bytes as a payload of the kitchen struct. What decodes must encode, and
 * from then on stay the same. */
#include <stdlib.h>
#include <string.h>

#include "core/codec_decode.h"
#include "fuzz.h"
#include "kitchen.h"

unsigned fuzz_taken;

static const void *decode(culex_arena *arena, const void *text, size_t len)
{
    const void *value = NULL;
    culex_error error;
    bool is_well_formed = culex__payload_is_well_formed(text, len);
    culex_status status = culex_decode(&kitchen_type, arena, text, len, &value, &error);
    if ((status == CULEX_OK) != (value != NULL) || (value != NULL && !is_well_formed))
        abort();
    return value;
}

/* False when the text would be too large, which a few bytes more per float can make it. */
static bool encode(const void *value, culex_buf *text)
{
    culex_status status = culex_encode(&kitchen_type, value, text, NULL);
    if (status != CULEX_OK && status != CULEX_ELIMIT)
        abort();
    return status == CULEX_OK;
}

static void check(culex_arena *arena, const uint8_t *data, size_t size, culex_buf *text,
                  culex_buf *again)
{
    const void *value = decode(arena, data, size);
    if (value == NULL || !encode(value, text))
        return;
    fuzz_taken++;
    const void *back = decode(arena, text->data, text->len);
    if (back == NULL || !encode(back, again) || text->len != again->len ||
        memcmp(text->data, again->data, text->len) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    culex_arena *arena = culex_arena_create();
    culex_buf text;
    culex_buf again;
    if (arena == NULL)
        abort();
    culex_buf_init(&text, 0);
    culex_buf_init(&again, 0);
    check(arena, data, size, &text, &again);
    culex_buf_release(&text);
    culex_buf_release(&again);
    culex_arena_free(arena);
    return 0;
}
