/* test.c - the worker tested, without its main. */
#include <culex_test.h>

#define main worker_main
#include "worker.c"
#undef main

int main(void)
{
    culex_test *test = NULL;
    hello_job job = hello_job_make();
    job.name = "Ann";
    if (culex_test_open(NULL, &test, NULL) != CULEX_OK)
        return 1;
    CULEX_TEST_REQUIRE(test, setup(culex_test_worker(test), NULL) == CULEX_OK);
    CULEX_TEST_REQUIRE(test, hello_job_enqueue(culex_test_client(test), &job, NULL, NULL, NULL) ==
                                 CULEX_OK);
    CULEX_TEST_ENQUEUED(test, hello_job, "name", "Ann");
    CULEX_TEST_REQUIRE(test, CULEX_TEST_DRAIN(test) == 1);
    CULEX_TEST_CALLS(test, hello_job, 1);
    culex_test_close(test);
    return 0;
}
