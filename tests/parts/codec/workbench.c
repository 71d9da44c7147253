#include "workbench.h"

#include <stdlib.h>
#include <string.h>

int workbench_setup(void **state)
{
    struct workbench *bench = calloc(1, sizeof *bench);
    bench->arena = culex_arena_create();
    culex_buf_init(&bench->buf, 0);
    *state = bench;
    return bench->arena == NULL;
}

int workbench_teardown(void **state)
{
    struct workbench *bench = *state;
    culex_buf_release(&bench->buf);
    culex_arena_free(bench->arena);
    free(bench);
    return 0;
}

/* The payload is given an exact allocation, so that a sanitizer sees a read behind it. */
const void *workbench_decode_as(struct workbench *bench, const culex_struct_type *type,
                                const char *text, size_t len)
{
    const void *value = NULL;
    char *copy = malloc(len == 0 ? 1 : len);
    memcpy(copy, text, len);
    memset(&bench->error, 0, sizeof bench->error);
    culex_status status = culex_decode(type, bench->arena, copy, len, &value, &bench->error);
    free(copy);
    assert_int_equal(status, bench->error.code);
    assert_true((status == CULEX_OK) == (value != NULL));
    return value;
}

const struct kitchen *workbench_decode_bytes(struct workbench *bench, const char *text, size_t len)
{
    return workbench_decode_as(bench, &kitchen_type, text, len);
}

const struct kitchen *workbench_decode(struct workbench *bench, const char *text)
{
    return workbench_decode_bytes(bench, text, strlen(text));
}

const char *workbench_encode_as(struct workbench *bench, const culex_struct_type *type,
                                const void *value)
{
    bench->buf.len = 0;
    memset(&bench->error, 0, sizeof bench->error);
    culex_status status = culex_encode(type, value, &bench->buf, &bench->error);
    assert_int_equal(status, bench->error.code);
    return status == CULEX_OK ? bench->buf.data : NULL;
}

const char *workbench_encode(struct workbench *bench, const struct kitchen *kitchen)
{
    return workbench_encode_as(bench, &kitchen_type, kitchen);
}

void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("expected %s in: %s", part, text);
}
