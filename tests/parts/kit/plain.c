/* plain.c - a test without a framework: plain holds, plain PLACE fails by the default. */
#include <stdio.h>

#include <culex_test.h>

#include "kit_job.h"

static culex_outcome letter(culex_run *run, const kit_letter_job *job, void *user)
{
    (void)run;
    *(int *)user += job->copies;
    return CULEX_DONE;
}

int main(int argc, char **argv)
{
    culex_error error;
    culex_test *test = NULL;
    int copies = 0;
    if (culex_test_open(NULL, &test, &error) != CULEX_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    kit_letter_job job = kit_letter_job_make("ann");
    if (kit_letter_job_enqueue(culex_test_client(test), &job, NULL, NULL, &error) != CULEX_OK ||
        kit_letter_job_register(culex_test_worker(test), letter, &copies) != CULEX_OK)
        return 1;
    CULEX_TEST_ENQUEUED(test, kit_letter_job, "to", argc > 1 ? argv[1] : "ann");
    CULEX_TEST_DRAIN(test);
    CULEX_TEST_CALLS(test, kit_letter_job, 1);
    CULEX_TEST_IDLE(test);
    culex_test_close(test);
    printf("%d\n", copies);
    return 0;
}
