/* test_sealed.c - encrypted params and results in a user's test: it needs no keys of its own, its
 * macros see what was sealed, and the store does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <culex_test.h>

#include "sealed_job.h"

static culex_outcome charge(culex_run *run, const kit_charge_job *job, void *user)
{
    const kit_charge_result result = kit_charge_result_make(job->card);
    kit_charge_job next = kit_charge_job_make(job->who, "4000-second");
    culex_error error = {0};
    (void)user;
    if (kit_charge_job_set_result(run, &result, &error) != CULEX_OK)
        return culex_run_fail(run, "%s", error.text);
    if (job->again && kit_charge_job_enqueue_from(run, &next, NULL, &error) != CULEX_OK)
        return culex_run_fail(run, "%s", error.text);
    return CULEX_DONE;
}

static void sealed_params_are_read_by_the_kit(void **state)
{
    culex_test *test = NULL;
    culex_error error = {0};
    culex_uuid id;
    (void)state;
    unsetenv("CULEX_KEYS");
    assert_int_equal(culex_test_open(NULL, &test, &error), CULEX_OK);
    assert_int_equal(kit_charge_job_register(culex_test_worker(test), charge, NULL), CULEX_OK);
    kit_charge_job job = kit_charge_job_make("ann", "4000-0000");
    job.again = true;
    assert_int_equal(kit_charge_job_enqueue(culex_test_client(test), &job, NULL, &id, &error),
                     CULEX_OK);
    CULEX_TEST_ENQUEUED(test, kit_charge_job, "who", "ann", "card", "4000-0000");
    assert_string_equal(CULEX_TEST_ONE(test, kit_charge_job)->card, "4000-0000");
    const culex_bytes *payload = &CULEX_TEST_RUN(test, kit_charge_job)->payload;
    assert_non_null(memmem(payload->data, payload->len, "{\"!culex.sealed\":\"", 18));
    assert_null(memmem(payload->data, payload->len, "4000", 4));
    CULEX_TEST_DRAIN(test);
    CULEX_TEST_CALLS(test, kit_charge_job, 2);
    assert_string_equal(CULEX_TEST_PARAMS(test, kit_charge_job)->card, "4000-second");
    culex_arena *arena = culex_arena_create();
    const kit_charge_result *result = NULL;
    culex_wait_end end;
    assert_int_equal(
        kit_charge_job_wait(culex_test_client(test), id, 0, arena, &end, &result, &error),
        CULEX_OK);
    assert_string_equal(result->receipt, "4000-0000");
    culex_arena_free(arena);
    culex_test_close(test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sealed_params_are_read_by_the_kit)};
    return cmocka_run_group_tests_name("sealed", tests, NULL, NULL);
}
