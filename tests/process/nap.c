/* process/nap.c - a worker and its producer for tests that kill processes.
 * nap enqueue nap|never      enqueues one run
 * nap state                  prints "STATE attempt N losses N failures N" of every run
 * nap OPTIONS                runs as a worker; each start of a handler is one line on stdout:
 *                            "start ATTEMPT PID MILLISECONDS" */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nap_job.h"

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void start_print(culex_run *run)
{
    printf("start %u %ld %lld\n", culex_run_attempt(run), (long)getpid(), (long long)now_ms());
    fflush(stdout);
}

static culex_outcome nap(culex_run *run, const nap_job *job, void *user)
{
    const struct timespec tick = {0, 10000000};
    (void)user;
    start_print(run);
    if (culex_run_attempt(run) > 1)
        return CULEX_DONE;
    int64_t end_ms = now_ms() + job->length / CULEX_MILLISECOND;
    while (now_ms() < end_ms && !culex_run_cancelled(run))
        nanosleep(&tick, NULL);
    return culex_run_cancelled(run) ? culex_run_fail(run, "woken") : CULEX_DONE;
}

static culex_outcome never(culex_run *run, const never_job *job, void *user)
{
    (void)job;
    (void)user;
    start_print(run);
    return culex_run_fail(run, "as always");
}

static int setup(culex_worker *worker, void *user)
{
    if (nap_job_register(worker, nap, user) != CULEX_OK)
        return 1;
    return never_job_register(worker, never, user);
}

static bool run_print(const culex_run_info *run, void *user)
{
    (void)user;
    printf("%s attempt %u losses %u failures %u\n", culex_run_state_name(run->state), run->attempt,
           run->losses, run->failures);
    return true;
}

static culex_status states_print(culex_client *client, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (int state = 0; state < CULEX_RUN_STATE_COUNT && status == CULEX_OK; state++) {
        uint64_t cursor = 0;
        status = culex_client_list(client, nap_job_type.queue, (culex_run_state)state, &cursor, 0,
                                   run_print, NULL, error);
    }
    return status;
}

static culex_status verb_do(culex_client *client, int argc, char **argv, culex_error *error)
{
    if (strcmp(argv[1], "state") == 0)
        return states_print(client, error);
    nap_job nap = nap_job_make(60 * CULEX_SECOND);
    never_job never = never_job_make();
    if (argc > 2 && strcmp(argv[2], "never") == 0)
        return never_job_enqueue(client, &never, NULL, NULL, error);
    return nap_job_enqueue(client, &nap, NULL, NULL, error);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argv[1][0] == '-')
        return culex_worker_main(argc, argv, setup, NULL);
    culex_error error;
    culex_client *client = NULL;
    culex_status status = culex_client_open(NULL, NULL, &client, &error);
    if (status == CULEX_OK)
        status = verb_do(client, argc, argv, &error);
    if (status != CULEX_OK)
        fprintf(stderr, "nap: %s\n", error.text);
    culex_client_close(client);
    return status == CULEX_OK ? 0 : 1;
}
