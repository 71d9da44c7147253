/* fuzz_schema_text - any bytes as the text of a schema. What is read must be written again, be the
 * same from then on, and be of use to the codec. */
#include <stdlib.h>
#include <string.h>

#include <culex/codec.h>
#include <culex/schema.h>

#include "fuzz.h"

unsigned fuzz_taken;

static void use(const culex_struct_type *type)
{
    culex_arena *arena = culex_arena_create();
    const void *value;
    culex_buf text;
    if (type == NULL || arena == NULL)
        abort();
    culex_buf_init(&text, 0);
    if (culex_decode(type, arena, "{}", 2, &value, NULL) == CULEX_OK) {
        culex_status status = culex_encode(type, value, &text, NULL);
        if (status == CULEX_EINVAL)
            abort();
    }
    culex_buf_release(&text);
    culex_arena_free(arena);
}

/* The text of what `text` was read as; NULL when it cannot be read. The caller frees it. */
static char *pass(const void *text, size_t len, size_t *ret_len)
{
    culex_schema *schema = NULL;
    culex_error error;
    char *again = NULL;
    culex_status status = culex_schema_read(text, len, &schema, &error);
    if ((status == CULEX_OK) != (schema != NULL))
        abort();
    if (schema == NULL)
        return NULL;
    use(culex_schema_type(schema)->params);
    status = culex_schema_write(culex_schema_type(schema), &again, ret_len, &error);
    if (status != CULEX_OK && status != CULEX_ELIMIT)
        abort();
    culex_schema_free(schema);
    return again;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t len, again_len;
    char *text = pass(data, size, &len);
    char *again = text != NULL ? pass(text, len, &again_len) : NULL;
    if (text != NULL && (again == NULL || strcmp(text, again) != 0))
        abort();
    fuzz_taken += text != NULL;
    free(text);
    free(again);
    return 0;
}
