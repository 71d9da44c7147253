#include "generation.h"

#include "placing.h"
#include "say.h"

bool generation_ask(struct generation *generation, const struct buf *question)
{
    struct buf text = {0};
    if (generation->order->seconds > 0)
        generation->plugin.seconds = generation->order->seconds;
    bool is_done =
        plugin_ask(&generation->plugin, question, &text) &&
        answer_take(&generation->arena, generation->plugin.what, &text, &generation->answer);
    buf_release(&text);
    return is_done;
}

static bool depfile_put(struct generation *generation)
{
    const struct compilation *compilation = generation->schemas[0].compilation;
    struct path_list *sources = generation->inputs;
    if (generation->order->depfile == NULL)
        return true;
    if (compilation->project != NULL)
        sources = path_list_add(&generation->arena, sources, compilation->project);
    for (const struct module *at = compilation->modules; at != NULL; at = at->next)
        sources = path_list_add(&generation->arena, sources, at->path);
    return depfile_write(generation->order->depfile, generation->targets, sources);
}

enum gen_status generation_put(struct generation *generation)
{
    const struct gen_order *order = generation->order;
    struct arena *arena = &generation->arena;
    if (order->is_check) {
        if (placing_compare(arena, order->out, generation->answer.files) == 0)
            return GEN_DONE;
        say("write what differs with the same command without --check");
        return GEN_DIFFERS;
    }
    bool is_done =
        placing_write(arena, order->out, generation->answer.files) && depfile_put(generation);
    return is_done ? GEN_DONE : GEN_FAILED;
}

void generation_target(struct generation *generation, const char *name)
{
    const char *path = arena_printf(&generation->arena, "%s/%s", generation->order->out, name);
    generation->targets = path_list_add(&generation->arena, generation->targets, path);
}
