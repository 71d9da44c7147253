#include "world.h"
void sim_store_init(struct sim_world *world) { (void)world; }
void sim_store_release(struct sim_world *world) { (void)world; }
culex_status sim_store_open(struct sim_process *process, int64_t timeout_ms,
                            struct culex_backend **ret_backend, culex_error *error)
{
    (void)process; (void)timeout_ms; (void)ret_backend; (void)error;
    return CULEX_ECONNECT;
}
void sim_store_check(struct sim_world *world) { (void)world; }
