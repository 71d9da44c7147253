/* suite/conformance.c - runs cases.def against the store named on the command line. */
#include "suite.h"

#include <fnmatch.h>

#include "cases.h"
#include "stores.h"

static const struct {
    const char *name;
    void (*run)(struct suite *suite);
} cases[] = {
#define CASE(name) {#name, case_##name},
#include "cases.def"
#undef CASE
};

enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

static struct suite suite;
static const char *store;
static int priority;

static int case_setup(void **state)
{
    (void)state;
    suite_open(&suite, store, priority);
    return 0;
}

static int case_teardown(void **state)
{
    (void)state;
    suite_close(&suite);
    return 0;
}

static void case_run(void **state)
{
    size_t index = *(const size_t *)*state;
    cases[index].run(&suite);
    suite_check(&suite);
}

/* The cases whose names match `pattern`, in `ret_tests`. */
static size_t cases_pick(const char *pattern, struct CMUnitTest ret_tests[CASE_COUNT])
{
    static size_t indices[CASE_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < CASE_COUNT; i++) {
        indices[i] = i;
        if (fnmatch(pattern, cases[i].name, 0) == 0)
            ret_tests[count++] = (struct CMUnitTest){cases[i].name, case_run, case_setup,
                                                     case_teardown, &indices[i]};
    }
    return count;
}

/* conformance STORE [CASES]: a word of stores_start, and a pattern of names in cases.def. */
int main(int argc, char **argv)
{
    static struct CMUnitTest tests[CASE_COUNT];
    if (argc < 2)
        return STORES_UNKNOWN;
    size_t count = cases_pick(argc > 2 ? argv[2] : "*", tests);
    if (count == 0) {
        fprintf(stderr, "no case matches '%s'\n", argv[2]);
        return 1;
    }
    int refused = stores_start(argv[1], false);
    if (refused != 0)
        return refused;
    store = argv[1];
    /* Redis keeps ready runs of priority 0 apart from the others: everything holds for both. */
    int failed = _cmocka_run_group_tests(store, tests, count, NULL, NULL);
    priority = 5;
    failed += _cmocka_run_group_tests(store, tests, count, NULL, NULL);
    stores_stop();
    return failed > 0 ? 1 : 0;
}
