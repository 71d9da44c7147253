#include "ir_set.h"

#include "ir_json.h"

void ir_set_init(struct ir_set *set, struct arena *arena)
{
    *set = (struct ir_set){.arena = arena};
    set->files_end = &set->files;
    map_init(&set->by_path, arena);
}

bool ir_set_add(struct ir_set *set, const struct module *module, bool is_import)
{
    const char *path = path_resolve(set->arena, module->path);
    struct ir_set_file *file = arena_alloc(set->arena, sizeof(*file));
    *file = (struct ir_set_file){.module = module, .is_import = is_import};
    if (map_add(&set->by_path, path != NULL ? path : module->path, file) != NULL)
        return false;
    *set->files_end = file;
    set->files_end = &file->next;
    return true;
}

void ir_set_add_imports(struct ir_set *set, const struct module *module)
{
    for (const struct module_import *at = module->imports; at != NULL; at = at->next) {
        if (ir_set_add(set, at->module, true))
            ir_set_add_imports(set, at->module);
    }
}

void ir_set_open(struct json_out *json, const struct ir_option *options)
{
    json_open(json, NULL, '{');
    json_number(json, "ir", IR_VERSION);
    json_text(json, "compiler", CULEXC_VERSION);
    json_open(json, "options", '{');
    for (const struct ir_option *option = options; option != NULL; option = option->next)
        json_text(json, option->name, option->value);
    json_close(json, '}');
    json_open(json, "files", '[');
}

void ir_set_close(struct json_out *json)
{
    json_close(json, ']');
    json_close(json, '}');
    buf_char(&json->buf, '\n');
}

void ir_set_write(const struct ir_set *set, bool is_compact, struct buf *buf)
{
    struct json_out json = {.buf = *buf, .is_compact = is_compact};
    ir_set_open(&json, set->options);
    for (const struct ir_set_file *file = set->files; file != NULL; file = file->next) {
        struct ir_json_options options = {.export_macro = set->export_macro,
                                          .is_import = file->is_import};
        ir_json_file(&json, file->module->ir, &options);
    }
    ir_set_close(&json);
    *buf = json.buf;
}
