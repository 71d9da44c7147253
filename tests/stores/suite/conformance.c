/* suite/conformance.c - runs cases.def against the store named on the command line. */
#include "suite.h"

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
}

/* conformance STORE [CASE]: model, sqlite, memory or redis. */
int main(int argc, char **argv)
{
    static struct CMUnitTest tests[CASE_COUNT];
    static size_t indices[CASE_COUNT];
    if (argc < 2 || !stores_start(argv[1], false))
        return STORES_SKIP;
    store = argv[1];
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    for (size_t i = 0; i < CASE_COUNT; i++) {
        indices[i] = i;
        tests[i] =
            (struct CMUnitTest){cases[i].name, case_run, case_setup, case_teardown, &indices[i]};
    }
    /* Redis keeps ready runs of priority 0 apart from the others: everything holds for both. */
    int failed = _cmocka_run_group_tests(store, tests, CASE_COUNT, NULL, NULL);
    priority = 5;
    failed += _cmocka_run_group_tests(store, tests, CASE_COUNT, NULL, NULL);
    stores_stop();
    return failed > 0 ? 1 : 0;
}
