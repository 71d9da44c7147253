#include "command/ask.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static bool answer_read(void)
{
    char answer[16];
    return fgets(answer, sizeof answer, stdin) != NULL &&
           (strcmp(answer, "y\n") == 0 || strcmp(answer, "yes\n") == 0);
}

culex_status ops_ask(struct ops *ops, bool *ret_is_wanted, culex_error *error, const char *question,
                     ...)
{
    char text[256];
    va_list arguments;
    *ret_is_wanted = true;
    if (ops->options.is_sure)
        return CULEX_OK;
    va_start(arguments, question);
    vsnprintf(text, sizeof text, question, arguments);
    va_end(arguments);
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return ops_usage(error, "%s? Nobody is there to ask: say --yes", text);
    fflush(stdout);
    fprintf(stderr, "%s? [y/N] ", text);
    *ret_is_wanted = answer_read();
    if (!*ret_is_wanted) {
        fputs("culex: nothing was done\n", stderr);
        ops->code = OPS_EXIT_FAILED;
    }
    return CULEX_OK;
}

/* --- while it is done ------------------------------------------------------------------------- */

static volatile sig_atomic_t is_interrupted;
static bool is_progress_shown;

static void interrupt(int number)
{
    (void)number;
    is_interrupted = 1;
}

void ops_interrupts_catch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
}

bool ops_is_interrupted(void)
{
    return is_interrupted != 0;
}

void ops_progress_show(uint64_t done, uint64_t all)
{
    enum { EACH = 200 };
    if (done % EACH != 0 || done == 0 || !isatty(STDERR_FILENO))
        return;
    if (all > 0)
        fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " ", done, all);
    else
        fprintf(stderr, "\r%" PRIu64 " ", done);
    is_progress_shown = true;
}

void ops_progress_end(void)
{
    if (is_progress_shown)
        fputs("\r                                        \r", stderr);
    is_progress_shown = false;
}
