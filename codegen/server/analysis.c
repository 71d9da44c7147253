#include "analysis.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "clash.h"
#include "lint.h"
#include "promise.h"

struct analysis *analysis_create(const struct analysis_input *input, const char *path)
{
    const char *fault;
    struct analysis *analysis = memory_resize(NULL, sizeof(*analysis));
    *analysis = (struct analysis){.encoding = input->encoding};
    struct compilation *compilation = &analysis->compilation;
    compilation_init(compilation);
    compilation->include_dirs = input->include_dirs;
    compilation->include_count = input->include_count;
    compilation->overlays = input->overlays;
    analysis->module = compilation_load(compilation, path, &fault);
    if (analysis->module != NULL)
        check_module(compilation, analysis->module);
    if (compilation->sink.errors == 0)
        clash_check(compilation, false);
    if (analysis->module != NULL && compilation->sink.errors == 0)
        lint_module(compilation, analysis->module, input->tiers, NULL);
    if (analysis->module != NULL && compilation->sink.errors == 0 && input->has_promises)
        promise_check(compilation, analysis->module);
    diag_sort(&compilation->sink);
    analysis->lines =
        arena_alloc(&compilation->arena, (compilation->count + 1) * sizeof(*analysis->lines));
    return analysis;
}

void analysis_release(struct analysis *analysis)
{
    if (analysis != NULL)
        compilation_release(&analysis->compilation);
    free(analysis);
}

struct lines *analysis_lines(struct analysis *analysis, const struct source *source)
{
    struct lines *lines = &analysis->lines[source->index];
    if (lines->starts == NULL)
        *lines = lines_of_source(&analysis->compilation.arena, source, analysis->encoding);
    return lines;
}

const char *module_key(struct arena *arena, const struct module *module)
{
    if (module->overlay != NULL)
        return module->overlay->path;
    const char *path = path_resolve(arena, module->path);
    return path != NULL ? path : module->path;
}

void write_position(struct json_out *json, const char *name, struct position position)
{
    json_open(json, name, '{');
    json_number(json, "line", position.line);
    json_number(json, "character", position.character);
    json_close(json, '}');
}

void write_range(struct json_out *json, const char *name, struct analysis *analysis,
                 struct span span)
{
    struct lines *lines = analysis_lines(analysis, span.source);
    json_open(json, name, '{');
    write_position(json, "start", lines_position(lines, span.offset));
    write_position(json, "end", lines_position(lines, (size_t)span.offset + span.length));
    json_close(json, '}');
}

const char *shown_text(struct arena *arena, const char *text, size_t len)
{
    char *copy = arena_alloc(arena, len + 1);
    char *to = copy;
    for (size_t at = 0; at < len;) {
        uint32_t code = 0;
        size_t length = utf8_sequence(text + at, len - at, &code);
        bool is_bad = length == 0 || (utf8_is_deceptive(code) && code != '\t' && code != '\n');
        length = length == 0 ? 1 : length;
        if (is_bad)
            *to++ = '?';
        else
            to = (char *)memcpy(to, text + at, length) + length;
        at += length;
    }
    return copy;
}
