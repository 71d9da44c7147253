/* producer/lacking.c - what generated code calls and a library for producers has not: handlers'
 * calls, registering them, and metadata. Other calls are missing when the program is linked. */
#include <culex/chain.h>
#include <culex/metadata.h>
#include <culex/worker.h>

#include "base/error.h"

static culex_status lacking(const char *call, culex_error *error)
{
    return culex__fail(error, CULEX_EUNSUPPORTED,
                       "%s: this program is linked with a library for producers, which only "
                       "enqueues and waits; link libculex",
                       call);
}

culex_status culex_worker_register(culex_worker *worker, const culex_job_type *type,
                                   culex_handler_call call, culex_handler_fn handler, void *user)
{
    (void)worker;
    (void)type;
    (void)call;
    (void)handler;
    (void)user;
    return CULEX_EUNSUPPORTED;
}

culex_status culex_worker_retire(culex_worker *worker, const culex_job_type *type)
{
    (void)worker;
    (void)type;
    return CULEX_EUNSUPPORTED;
}

culex_status culex_worker_register_chain(culex_worker *worker, const culex_chain *chain)
{
    (void)worker;
    (void)chain;
    return CULEX_EUNSUPPORTED;
}

culex_status culex_run_enqueue(culex_run *run, const culex_job_type *type, const void *params,
                               const culex_enqueue_options *options, culex_error *error)
{
    (void)run;
    (void)type;
    (void)params;
    (void)options;
    return lacking("culex_run_enqueue", error);
}

culex_status culex_run_set_result(culex_run *run, const culex_struct_type *type, const void *value,
                                  culex_error *error)
{
    (void)run;
    (void)type;
    (void)value;
    return lacking("culex_run_set_result", error);
}

culex_status culex_run_metadata_get(culex_run *run, const culex_struct_type *type, void *ret_value,
                                    uint64_t *ret_version, culex_error *error)
{
    (void)run;
    (void)type;
    (void)ret_value;
    (void)ret_version;
    return lacking("culex_run_metadata_get", error);
}

culex_status culex_run_metadata_set(culex_run *run, const culex_struct_type *type,
                                    const void *value, uint64_t *version, culex_error *error)
{
    (void)run;
    (void)type;
    (void)value;
    (void)version;
    return lacking("culex_run_metadata_set", error);
}

culex_status culex_client_metadata_read(culex_client *client, const culex_job_type *type,
                                        culex_arena *arena, void *ret_value, uint64_t *ret_version,
                                        culex_error *error)
{
    (void)client;
    (void)type;
    (void)arena;
    (void)ret_value;
    (void)ret_version;
    return lacking("culex_client_metadata_read", error);
}

culex_status culex_client_metadata_write(culex_client *client, const culex_job_type *type,
                                         const void *value, uint64_t *version, culex_error *error)
{
    (void)client;
    (void)type;
    (void)value;
    (void)version;
    return lacking("culex_client_metadata_write", error);
}
