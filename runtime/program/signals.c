#include "program/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

static _Atomic(culex_worker *) caught;
static atomic_bool is_stopping; /* by a signal */

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
enum { NUMBER_COUNT = sizeof numbers / sizeof numbers[0] };
static struct sigaction before[NUMBER_COUNT];

static void on_stop(int number)
{
    /* Shell and kernel both send SIGHUP when a terminal closes: it skips no grace period. */
    bool is_repeated = atomic_exchange(&is_stopping, true);
    culex_worker *worker = atomic_load(&caught);
    if (worker != NULL && !(number == SIGHUP && is_repeated))
        culex_worker_stop(worker);
}

void culex__signals_catch(culex_worker *worker)
{
    atomic_store(&caught, worker);
    atomic_store(&is_stopping, false);
    for (int i = 0; i < NUMBER_COUNT; i++) {
        struct sigaction action = {0};
        action.sa_handler = numbers[i] == SIGPIPE ? SIG_IGN : on_stop;
        action.sa_flags = SA_RESTART;
        sigemptyset(&action.sa_mask);
        sigaction(numbers[i], NULL, &before[i]);
        if (numbers[i] != SIGHUP || before[i].sa_handler == SIG_DFL) /* nohup's stays */
            sigaction(numbers[i], &action, NULL);
    }
}

void culex__signals_restore(void)
{
    for (int i = 0; i < NUMBER_COUNT; i++)
        sigaction(numbers[i], &before[i], NULL);
    atomic_store(&caught, NULL);
}
