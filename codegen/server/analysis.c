#include "analysis.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "clash.h"
#include "lint.h"
#include "promise.h"

/* Reads the project of the file; NULL, or what is wrong with it. */
static const char *project_open(struct analysis *analysis, const char *path)
{
    struct arena *arena = &analysis->compilation.arena;
    struct diag_sink sink;
    const char *fault;
    const char *file = project_find(arena, path);
    if (file == NULL)
        return NULL;
    diag_sink_init(&sink, arena);
    if (!project_read(&sink, file, &analysis->project, &fault))
        return arena_printf(arena, "%s: %s", file, fault);
    if (sink.errors == 0)
        return NULL;
    project_release(&analysis->project);
    analysis->project = (struct project){0};
    diag_sort(&sink);
    return arena_printf(arena, "%s:%u: %s", file, span_line(sink.first->span), sink.first->text);
}

static void include_dirs_set(struct analysis *analysis, const struct analysis_input *input)
{
    struct compilation *compilation = &analysis->compilation;
    const struct texts *imports = &analysis->project.imports;
    size_t count = input->include_count + imports->count;
    const char **dirs = arena_alloc(&compilation->arena, (count + 1) * sizeof(*dirs));
    for (size_t i = 0; i < count; i++)
        dirs[i] = i < input->include_count ? input->include_dirs[i]
                                           : imports->items[i - input->include_count];
    compilation->include_dirs = dirs;
    compilation->include_count = count;
}

static void module_check(struct analysis *analysis, const struct analysis_input *input)
{
    struct compilation *compilation = &analysis->compilation;
    unsigned tiers = input->tiers != 0 ? input->tiers : analysis->project.tiers;
    check_module(compilation, analysis->module);
    if (compilation->sink.errors == 0)
        clash_check(compilation, false);
    if (compilation->sink.errors == 0)
        lint_module(compilation, analysis->module, tiers, NULL);
    if (compilation->sink.errors == 0 && input->has_promises)
        promise_check(compilation, analysis->module, analysis->project.lock);
}

struct analysis *analysis_create(const struct analysis_input *input, const char *path)
{
    const char *fault;
    struct analysis *analysis = memory_resize(NULL, sizeof(*analysis));
    *analysis = (struct analysis){.encoding = input->encoding};
    struct compilation *compilation = &analysis->compilation;
    compilation_init(compilation);
    const char *project_fault = project_open(analysis, path);
    include_dirs_set(analysis, input);
    compilation->overlays = input->overlays;
    analysis->module = compilation_load(compilation, path, &fault);
    if (analysis->module != NULL)
        module_check(analysis, input);
    if (analysis->module != NULL && project_fault != NULL)
        diag_report(&compilation->sink, DIAG_PROJECT_SYNTAX,
                    (struct span){analysis->module->source, 0, 0}, "%s", project_fault);
    diag_sort(&compilation->sink);
    analysis->lines =
        arena_alloc(&compilation->arena, (compilation->count + 1) * sizeof(*analysis->lines));
    return analysis;
}

void analysis_release(struct analysis *analysis)
{
    if (analysis != NULL) {
        project_release(&analysis->project);
        compilation_release(&analysis->compilation);
    }
    free(analysis);
}

struct lines *analysis_lines(struct analysis *analysis, const struct source *source)
{
    assert(source->index < analysis->compilation.count); /* The text of a lock is not among them. */
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
