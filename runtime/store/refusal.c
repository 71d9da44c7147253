#include "store/refusal.h"

#include "base/error.h"

culex_status culex__refuse_queue(const char *queue, culex_error *error)
{
    return culex__fail(error, CULEX_ENOTFOUND, "the store has no queue '%s'", queue);
}

culex_status culex__refuse_run(const char *queue, culex_error *error)
{
    return culex__fail(error, CULEX_ENOTFOUND, "no such run in queue '%s'", queue);
}

culex_status culex__refuse_cancel(culex_run_state state, culex_error *error)
{
    return culex__fail(error, CULEX_ESTATE, "the run is %s already", culex_run_state_name(state));
}

culex_status culex__refuse_retry(culex_error *error)
{
    return culex__fail(error, CULEX_ESTATE, "only a dead run can be retried");
}

culex_status culex__refuse_forget(culex_error *error)
{
    return culex__fail(error, CULEX_ESTATE, "the run is not over yet");
}

culex_status culex__refuse_rival(culex_error *error)
{
    return culex__fail(error, CULEX_EUNIQUE, "another run holds its unique key by now");
}
