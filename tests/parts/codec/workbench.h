/* workbench.h - what tests of the codec have at hand: an arena, a buffer, the last error. */
#ifndef TESTS_CODEC_WORKBENCH_H
#define TESTS_CODEC_WORKBENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kitchen.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define WORKBENCH_TEST(name)                                                                       \
    cmocka_unit_test_setup_teardown(name, workbench_setup, workbench_teardown)

struct workbench {
    culex_arena *arena;
    culex_buf buf;
    culex_error error;
};

int workbench_setup(void **state);
int workbench_teardown(void **state);

/* The decoded value, or NULL with the complaint in `error`. */
const void *workbench_decode_as(struct workbench *bench, const culex_struct_type *type,
                                const char *text, size_t len);
const struct kitchen *workbench_decode_bytes(struct workbench *bench, const char *text, size_t len);
const struct kitchen *workbench_decode(struct workbench *bench, const char *text);

/* The text, which lives until the next call, or NULL with the complaint in `error`. */
const char *workbench_encode_as(struct workbench *bench, const culex_struct_type *type,
                                const void *value);
const char *workbench_encode(struct workbench *bench, const struct kitchen *kitchen);

void assert_contains(const char *text, const char *part);

#endif
