#include "gen_c.h"

#include "digest.h"
#include "ir_json.h"
#include "renderer.h"
#include "say.h"
#include "stamp.h"

/* One schema and what is made of it. */
struct unit {
    const struct ir_file *ir;
    struct buf model; /* as the renderer reads it */
    uint64_t inputs;
    bool is_current;
};

static void unit_init(const struct generation *generation, const struct renderer *renderer,
                      const struct gen_schema *schema, struct unit *unit)
{
    const struct gen_order *order = generation->order;
    struct json_out json = {.is_compact = true};
    struct ir_json_options options = {.export_macro = order->export_macro};
    struct arena names = {0};
    unit->ir = schema->module->ir;
    ir_json_file(&json, unit->ir, &options);
    unit->model = json.buf;
    unit->inputs = digest_bytes(renderer->digest, unit->model.data, unit->model.len);
    unit->is_current = !order->is_check && stamp_holds(&names, unit->inputs, order->out,
                                                       unit->ir->header, unit->ir->source);
    arena_release(&names);
}

/* The document of what has to be rendered; false when there is nothing. */
static bool units_print(const struct unit *units, size_t count, struct buf *question)
{
    struct json_out json = {.is_compact = true};
    bool is_any = false;
    ir_set_open(&json, NULL);
    for (size_t i = 0; i < count; i++) {
        if (!units[i].is_current)
            json_raw(&json, NULL, &units[i].model);
        is_any |= !units[i].is_current;
    }
    ir_set_close(&json);
    *question = json.buf;
    return is_any;
}

/* Every unit has its two files in the answer, and there are no others. */
static bool units_stamp(struct generation *generation, const struct unit *units)
{
    size_t expected = 0, found = 0;
    for (size_t i = 0; i < generation->count; i++) {
        const struct map *by_name = &generation->answer.by_name;
        struct answer_file *header = map_get(by_name, units[i].ir->header);
        struct answer_file *source = map_get(by_name, units[i].ir->source);
        if (units[i].is_current)
            continue;
        expected += 2;
        if (header != NULL && source != NULL)
            stamp_add(&generation->arena, units[i].inputs, header, source);
    }
    for (const struct answer_file *at = generation->answer.files; at != NULL; at = at->next)
        found++;
    bool is_whole = found == expected && generation->answer.by_name.count == expected;
    if (!is_whole)
        say("the renderer's answer has not the expected files");
    return is_whole;
}

static enum gen_status units_render(struct generation *generation, const struct unit *units)
{
    struct buf question = {0};
    bool is_done = true;
    if (units_print(units, generation->count, &question))
        is_done = generation_ask(generation, &question) && units_stamp(generation, units);
    buf_release(&question);
    return is_done ? generation_put(generation) : GEN_FAILED;
}

enum gen_status gen_c(struct generation *generation)
{
    struct renderer renderer;
    struct arena *arena = &generation->arena;
    if (!renderer_read(arena, generation->installation.renderer, &renderer))
        return GEN_FAILED;
    struct unit *units = arena_alloc(arena, generation->count * sizeof(*units));
    generation->plugin = plugin_renderer(arena, &generation->installation);
    generation->inputs = renderer.files;
    for (size_t i = 0; i < generation->count; i++) {
        unit_init(generation, &renderer, &generation->schemas[i], &units[i]);
        /* The C file first, as builds list their outputs: ninja compares the first of both. */
        generation_target(generation, units[i].ir->header);
        generation_target(generation, units[i].ir->source);
    }
    enum gen_status status = units_render(generation, units);
    for (size_t i = 0; i < generation->count; i++)
        buf_release(&units[i].model);
    return status;
}
