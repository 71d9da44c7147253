#include "program/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "worker/reload.h"

static _Atomic(culex_worker *) caught;
static _Atomic(culex_worker *) reloading;
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

static void on_hangup(int number)
{
    culex_worker *worker = atomic_load(&reloading);
    (void)number;
    if (worker != NULL)
        culex__reload_ring(worker);
}

static void handler_set(int number, void (*handler)(int number))
{
    struct sigaction action = {0};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void culex__signals_reload(culex_worker *worker)
{
    atomic_store(&reloading, worker);
    handler_set(SIGHUP, on_hangup);
}

void culex__signals_catch(culex_worker *worker)
{
    atomic_store(&caught, worker);
    atomic_store(&is_stopping, false);
    for (int i = 0; i < NUMBER_COUNT; i++) {
        sigaction(numbers[i], NULL, &before[i]);
        if (numbers[i] != SIGHUP || before[i].sa_handler == SIG_DFL) /* nohup's stays, and ours */
            handler_set(numbers[i], numbers[i] == SIGPIPE ? SIG_IGN : on_stop);
    }
}

void culex__signals_restore(void)
{
    for (int i = 0; i < NUMBER_COUNT; i++)
        sigaction(numbers[i], &before[i], NULL);
    atomic_store(&caught, NULL);
}

void culex__signals_reload_end(void)
{
    if (atomic_exchange(&reloading, NULL) != NULL)
        handler_set(SIGHUP, SIG_IGN);
}
