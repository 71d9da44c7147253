#include "program/signals.h"

#include <signal.h>
#include <stdatomic.h>

static _Atomic(culex_worker *) caught;

static const int numbers[] = {SIGINT, SIGTERM, SIGPIPE};
enum { NUMBER_COUNT = sizeof numbers / sizeof numbers[0] };
static struct sigaction before[NUMBER_COUNT];

static void on_stop(int number)
{
    (void)number;
    culex_worker *worker = atomic_load(&caught);
    if (worker != NULL)
        culex_worker_stop(worker);
}

void culex__signals_catch(culex_worker *worker)
{
    atomic_store(&caught, worker);
    for (int i = 0; i < NUMBER_COUNT; i++) {
        struct sigaction action = {0};
        action.sa_handler = numbers[i] == SIGPIPE ? SIG_IGN : on_stop;
        action.sa_flags = SA_RESTART;
        sigemptyset(&action.sa_mask);
        sigaction(numbers[i], &action, &before[i]);
    }
}

void culex__signals_restore(void)
{
    for (int i = 0; i < NUMBER_COUNT; i++)
        sigaction(numbers[i], &before[i], NULL);
    atomic_store(&caught, NULL);
}
