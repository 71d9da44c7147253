#include "store/refusal.h"

#include "base/error.h"
#include "core/run.h"

culex_status culex__refuse_queue(const char *queue, culex_error *error)
{
    return culex__fail(error, CULEX_ENOTFOUND, "the store has no queue '%s'", queue);
}

culex_status culex__refuse_run(const char *queue, culex_error *error)
{
    return culex__fail(error, CULEX_ENOTFOUND, "no such run in queue '%s'", queue);
}

culex_status culex__refuse_schedule(const char *queue, const char *schedule, culex_error *error)
{
    return culex__fail(error, CULEX_ENOTFOUND, "queue '%s' has no schedule '%s'", queue, schedule);
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

culex_status culex__refuse_ticket(culex_error *error)
{
    return culex__fail(error, CULEX_ECONFLICT,
                       "the ticket came with other runs before, or its producer has made a later "
                       "call in this queue; nothing was enqueued");
}

culex_status culex__refuse_ticket_time(culex_error *error)
{
    return culex__fail(error, CULEX_EEXPIRED,
                       "the ticket's time is more than %d minutes from the store's clock; nothing "
                       "was enqueued by this call",
                       CULEX_TICKET_HORIZON_MS / 60000);
}

culex_status culex__refuse_rival(culex_error *error)
{
    return culex__fail(error, CULEX_EUNIQUE, "another run holds its unique key by now");
}
