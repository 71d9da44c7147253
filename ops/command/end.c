#include "command/end.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "command/fail.h"

/* A connection that got the number of standard output, as that was closed, would be sent what is
 * printed; so would one with that of standard error. */
void ops_descriptors_fill(void)
{
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++) {
        int flags = number == STDERR_FILENO ? O_WRONLY : O_RDONLY;
        if (fcntl(number, F_GETFD) == -1 && open("/dev/null", flags) != number)
            _exit(OPS_EXIT_OUTPUT);
    }
}

int ops_exit_of(culex_status status)
{
    return status == CULEX_EUSAGE || status == CULEX_EURL || status == CULEX_EINVAL
               ? OPS_EXIT_USAGE
               : OPS_EXIT_FAILED;
}

int ops_failure_tell(culex_status status, const culex_error *error)
{
    fflush(stdout);
    ops_failure_print(error->text[0] != '\0' ? error->text : culex_status_text(status));
    return ops_exit_of(status);
}

int ops_output_end(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "%s: cannot write the output\n", ops_program);
    return OPS_EXIT_OUTPUT;
}
