#include "gen.h"

#include <assert.h>

#include "gen_c.h"
#include "gen_plugin.h"

enum gen_status gen_run(const struct gen_order *order, const struct gen_schema *schemas,
                        size_t count)
{
    struct generation generation = {.order = order, .schemas = schemas, .count = count};
    enum gen_status status = GEN_FAILED;
    assert(count > 0);
    for (size_t i = 0; i < count; i++) /* What errors leave of a model is not whole. */
        assert(schemas[i].module->ir != NULL && !schemas[i].compilation->sink.has_faults);
    if (installation_find(&generation.arena, &generation.installation))
        status = order->plugin == NULL ? gen_c(&generation) : gen_plugin(&generation);
    arena_release(&generation.arena);
    return status;
}
