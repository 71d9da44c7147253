/* sweep_project - culex.yaml while the n-th allocation fails, for every n: the compiler says that
 * it is out of memory and ends with status 3, in libyaml's allocations as in its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failing_malloc.h"
#include "project.h"

static const char text[] = "# All kinds of things.\n"
                           "folders: [jobs, \"more\\x20jobs\"]\n"
                           "imports:\n  - include\n  - ../shared\n"
                           "exclude: ['*.old', gen/*.job]\n"
                           "tiers: strict\n"
                           "lock: jobs.lock\n"
                           "lokc: [a, {b: c}]\n";

static unsigned long left; /* until one fails; 0: none does */

bool malloc_fails(void)
{
    return left > 0 && --left == 0;
}

/* Ends the process: 0 when the one wrong key was found. */
static void project_try(unsigned long failing)
{
    struct arena arena = {0};
    struct diag_sink sink;
    struct project project;
    left = failing;
    diag_sink_init(&sink, &arena);
    project_read_text(&sink, "/srv/culex.yaml", text, sizeof(text) - 1, &project);
    bool is_right = sink.errors == 1 && sink.first->id == DIAG_PROJECT_KEY;
    bool is_reached = failing > 0 && left == 0;
    project_release(&project);
    arena_release(&arena);
    _exit(is_reached || !is_right ? 1 : 0); /* Went on without what it asked for. */
}

static int status_of(unsigned long failing)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        project_try(failing);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(void)
{
    unsigned long n = 1;
    int status;
    if (status_of(0) != 0) {
        fprintf(stderr, "it is not read with all memory there is\n");
        return 1;
    }
    while ((status = status_of(n)) == 3)
        n++;
    printf("%lu allocations failed, one at a time; then status %d\n", n - 1, status);
    return n > 20 && status == 0 ? 0 : 1;
}
