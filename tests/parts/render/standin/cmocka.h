/* cmocka.h - the little of cmocka that the codec's tests use, for targets to which the library
 * itself was not compiled. The first assertion that does not hold ends the program. */
#ifndef STANDIN_CMOCKA_H
#define STANDIN_CMOCKA_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
    int (*setup)(void **state);
    int (*teardown)(void **state);
};

/* clang-format off */
#define cmocka_unit_test(function) \
    {#function, function, NULL, NULL}
#define cmocka_unit_test_setup_teardown(function, setup, teardown) \
    {#function, function, setup, teardown}
/* clang-format on */

#define fail_msg(...)                                                                              \
    do {                                                                                           \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                            \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fputc('\n', stderr);                                                                       \
        exit(1);                                                                                   \
    } while (0)
#define fail() fail_msg("failed")

#define assert_true(condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s", #condition);                                                            \
    } while (0)
#define assert_false(condition)      assert_true(!(condition))
#define assert_null(pointer)         assert_true((pointer) == NULL)
#define assert_non_null(pointer)     assert_true((pointer) != NULL)
#define assert_ptr_equal(a, b)       assert_true((const void *)(a) == (const void *)(b))
#define assert_memory_equal(a, b, n) assert_true(memcmp(a, b, n) == 0)
#define assert_in_range(value, low, high)                                                          \
    assert_true((uintmax_t)(value) >= (uintmax_t)(low) && (uintmax_t)(value) <= (uintmax_t)(high))
#define assert_int_equal(a, b)                                                                     \
    do {                                                                                           \
        if ((intmax_t)(a) != (intmax_t)(b))                                                        \
            fail_msg("%s is %" PRIdMAX ", not %s", #a, (intmax_t)(a), #b);                         \
    } while (0)
#define assert_string_equal(a, b)                                                                  \
    do {                                                                                           \
        if (strcmp(a, b) != 0)                                                                     \
            fail_msg("%s is \"%s\", not \"%s\"", #a, a, b);                                        \
    } while (0)

static inline int standin_run(const struct CMUnitTest *tests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *state = NULL;
        if (tests[i].setup != NULL && tests[i].setup(&state) != 0)
            fail_msg("%s: its setup failed", tests[i].name);
        tests[i].run(&state);
        if (tests[i].teardown != NULL && tests[i].teardown(&state) != 0)
            fail_msg("%s: its teardown failed", tests[i].name);
    }
    printf("%zu tests passed\n", count);
    return 0;
}

#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    standin_run(tests, sizeof(tests) / sizeof((tests)[0]))
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                  \
    cmocka_run_group_tests(tests, setup, teardown)

#endif
