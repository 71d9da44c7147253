/* test.c - the worker tested with its hooks, without its main. */
#include <assert.h>
#include <string.h>

#include <culex_test.h>

#define main worker_main
#include "worker.c"
#undef main

static culex_uuid order(culex_test *test, uint32_t account, uint64_t cents, const char *name)
{
    bank_transfer_job job = bank_transfer_job_make(account, cents, name);
    culex_uuid id;
    assert(bank_transfer_job_enqueue(culex_test_client(test), &job, NULL, &id, NULL) == CULEX_OK);
    return id;
}

int main(void)
{
    static char book[] = "audit_test.txt";
    culex_test *test = NULL;
    assert(culex_test_open(NULL, &test, NULL) == CULEX_OK);
    assert(setup(culex_test_worker(test), book) == CULEX_OK);
    culex_uuid small = order(test, 7, 500, "clerk");
    culex_uuid large = order(test, 7, 500000, "clerk");
    assert(CULEX_TEST_DRAIN(test) == 1); /* the other one did not come to its handler */
    CULEX_TEST_STATE(test, small, CULEX_RUN_DONE);
    CULEX_TEST_STATE(test, large, CULEX_RUN_DEAD);
    culex_test_close(test);
    remove(book);
    return 0;
}
