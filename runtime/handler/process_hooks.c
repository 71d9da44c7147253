#include "handler/process_hooks.h"

culex_status culex__process_hooks_open(const struct culex_process_hooks *hooks, void **ret_process,
                                       culex_error *error)
{
    if (hooks->open_call != NULL)
        return hooks->open_call(hooks->open, hooks->user, ret_process, error);
    return hooks->open(hooks->user, ret_process, error);
}

void culex__process_hooks_close(const struct culex_process_hooks *hooks, void *process)
{
    if (hooks->close_call != NULL)
        hooks->close_call(hooks->close, process, hooks->user);
    else
        hooks->close(process, hooks->user);
}
