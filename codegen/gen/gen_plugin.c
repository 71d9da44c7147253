#include "gen_plugin.h"

#include <string.h>

#include "base/utf8.h"
#include "say.h"

static struct span place_of(const struct source *source, const struct answer_error *error)
{
    uint32_t line = error->line > source->line_count ? 0 : (uint32_t)error->line;
    size_t len = 0, at = 0;
    if (line == 0)
        return (struct span){source, 0, 0};
    const char *text = source_line(source, line, &len);
    for (int64_t column = 1; column < error->column && at < len; column++) {
        size_t width = culex__utf8_char(text + at, len - at);
        at += width == 0 ? 1 : width;
    }
    return (struct span){source, source->lines[line - 1] + (uint32_t)at, at < len ? 1 : 0};
}

/* The first compilation that has a module of this name. */
static struct compilation *file_find(const struct generation *generation, const char *file,
                                     const struct source **ret_source)
{
    for (size_t i = 0; i < generation->count && file != NULL; i++) {
        struct compilation *compilation = generation->schemas[i].compilation;
        for (const struct module *at = compilation->modules; at != NULL; at = at->next) {
            *ret_source = at->source;
            if (strcmp(at->file, file) == 0)
                return compilation;
        }
    }
    return NULL;
}

static enum gen_status errors_report(const struct generation *generation)
{
    enum gen_status status = GEN_REFUSED;
    for (const struct answer_error *at = generation->answer.errors; at != NULL; at = at->next) {
        const struct source *source;
        struct compilation *compilation = file_find(generation, at->file, &source);
        if (compilation != NULL) {
            diag_report(&compilation->sink, DIAG_PLUGIN_ERROR, place_of(source, at), "%s",
                        at->message);
            continue;
        }
        say("%s says: %s", generation->plugin.what, at->message);
        status = GEN_FAILED;
    }
    return status;
}

static void set_print(const struct generation *generation, struct buf *question)
{
    struct ir_set set;
    struct arena arena = {0};
    ir_set_init(&set, &arena);
    set.export_macro = generation->order->export_macro;
    set.options = generation->order->options;
    for (size_t i = 0; i < generation->count; i++)
        ir_set_add(&set, generation->schemas[i].module, generation->schemas[i].is_beside);
    for (size_t i = 0; i < generation->count; i++)
        ir_set_add_imports(&set, generation->schemas[i].module);
    ir_set_write(&set, true, question);
    arena_release(&arena);
}

enum gen_status gen_plugin(struct generation *generation)
{
    struct buf question = {0};
    if (!plugin_find(&generation->arena, &generation->installation, generation->order->plugin,
                     &generation->plugin))
        return GEN_FAILED;
    if (generation->plugin.path != NULL)
        generation->inputs = path_list_add(&generation->arena, NULL, generation->plugin.path);
    set_print(generation, &question);
    bool is_asked = generation_ask(generation, &question);
    buf_release(&question);
    if (!is_asked)
        return GEN_FAILED;
    if (generation->answer.errors != NULL)
        return errors_report(generation);
    for (const struct answer_file *at = generation->answer.files; at != NULL; at = at->next)
        generation_target(generation, at->name);
    return generation_put(generation);
}
