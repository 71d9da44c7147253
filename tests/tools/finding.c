/* finding.c - one finding of a sanitizer: finding undefined|leak|race. Its test expects it to fail,
 * so a finding that is only printed fails the test run. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int shared;

static int undefined_sum(volatile int largest)
{
    return largest + 1;
}

static void *shared_count(void *unused)
{
    (void)unused;
    shared++;
    return NULL;
}

static void threads_race(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, shared_count, NULL) != 0)
            exit(0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void memory_leak(void)
{
    void *volatile block = NULL;
    for (int i = 0; i < 100; i++) /* a register may still hold the last one */
        block = malloc(100);
    if (block != NULL)
        block = NULL;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "undefined") == 0)
        return undefined_sum(INT_MAX) == 0;
    else if (strcmp(what, "race") == 0)
        threads_race();
    else if (strcmp(what, "leak") == 0)
        memory_leak();
    return 0;
}
