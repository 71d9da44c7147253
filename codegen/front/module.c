#include "module.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allow.h"
#include "cname.h"
#include "input.h"
#include "limits.h"
#include "parser.h"

void compilation_init(struct compilation *compilation)
{
    *compilation = (struct compilation){0};
    compilation->modules_end = &compilation->modules;
    diag_sink_init(&compilation->sink, &compilation->arena);
    map_init(&compilation->by_path, &compilation->arena);
}

void compilation_release(struct compilation *compilation)
{
    arena_release(&compilation->arena);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

const char *path_resolve(struct arena *arena, const char *path)
{
    char real[4096];
    if (realpath(path, real) != NULL)
        return arena_copy(arena, real, strlen(real));
    const char *base = base_name(path);
    const char *folder = base == path ? "." : arena_copy(arena, path, (size_t)(base - path));
    if (realpath(folder, real) == NULL)
        return NULL;
    return arena_printf(arena, "%s/%s", strcmp(real, "/") == 0 ? "" : real, base);
}

static const struct overlay *overlay_find(struct compilation *compilation, const char *path)
{
    const struct overlay *overlay = compilation->overlays;
    const char *real = overlay == NULL ? NULL : path_resolve(&compilation->arena, path);
    while (overlay != NULL && strcmp(overlay->path, real != NULL ? real : path) != 0)
        overlay = overlay->next;
    return overlay;
}

/* NULL, or why there is no text at `path`. */
static const char *text_read(struct compilation *compilation, const char *path, struct input *text)
{
    const struct overlay *overlay = overlay_find(compilation, path);
    if (overlay == NULL)
        return input_read(path, text);
    *text = (struct input){.size = overlay->size, .overlay = overlay};
    text->bytes = memory_resize(NULL, overlay->size + 1);
    memcpy(text->bytes, overlay->text, overlay->size);
    return NULL;
}

/* The stem becomes part of file names and of the include guard. */
static void stem_set(struct compilation *compilation, struct module *module)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const char *base = base_name(module->path);
    size_t len = strlen(base);
    bool has_suffix = len > 4 && strcmp(base + len - 4, ".job") == 0;
    size_t stem = has_suffix ? len - 4 : len;
    module->stem = arena_copy(&compilation->arena, base, stem);
    module->header = arena_printf(&compilation->arena, "%s_job.h", module->stem);
    if (has_suffix && stem <= LIMIT_STEM_BYTES && strspn(module->stem, allowed) == stem &&
        strspn(module->stem, allowed) > 0 && strchr("_-0123456789", module->stem[0]) == NULL)
        return;
    diag_report(&compilation->sink, DIAG_BAD_FILE_NAME, (struct span){module->source, 0, 0},
                "'%.128s' is not a good name for a schema file", base);
    diag_help(&compilation->sink,
              "a name is letters, digits, '_' and '-', starts with a letter, "
              "is at most %u long and ends in .job",
              LIMIT_STEM_BYTES);
}

/* Names are looked for from the package outward, so a package without a bound would cost its length
 * for each of its parts. */
static void package_set(struct compilation *compilation, struct module *module)
{
    const struct ast_name *package = &module->ast->package;
    if (package->text == NULL || strlen(package->text) <= LIMIT_PACKAGE_BYTES) {
        module->package = package->text;
        return;
    }
    diag_report(&compilation->sink, DIAG_NAME_TOO_LONG, package->span,
                "a package has at most %u characters", LIMIT_PACKAGE_BYTES);
    module->is_broken = true;
}

/* The path below the -I folder that holds it; else the bare file name. */
static const char *file_below_root(struct compilation *compilation, const char *path)
{
    char real[4096], root[4096];
    if (realpath(path, real) == NULL)
        return base_name(path);
    for (size_t i = 0; i < compilation->include_count; i++) {
        if (realpath(compilation->include_dirs[i], root) == NULL)
            continue;
        size_t len = strlen(root);
        if (strncmp(real, root, len) == 0 && real[len] == '/')
            return arena_copy(&compilation->arena, real + len + 1, strlen(real + len + 1));
    }
    return base_name(path);
}

static struct module *module_create(struct compilation *compilation, const char *path,
                                    const char *file, const struct input *text)
{
    struct arena *arena = &compilation->arena;
    struct module *module = arena_alloc(arena, sizeof(*module));
    module->path = arena_copy(arena, path, strlen(path));
    module->file = arena_copy(arena, file, strlen(file));
    module->overlay = text->overlay;
    module->source = source_create(arena, path, text->bytes, text->size);
    module->source->index = compilation->count++;
    map_init(&module->symbols, arena);
    stem_set(compilation, module);
    allow_read(&compilation->sink, module->source);
    module->ast = parse_file(&compilation->sink, module->source);
    module->is_broken = module->ast->has_errors;
    package_set(compilation, module);
    return module;
}

static const char *import_path_fault(const char *path)
{
    size_t len = strlen(path);
    if (len == 0 || len > LIMIT_PATH_BYTES)
        return "is empty or too long";
    if (path[0] == '/')
        return "is absolute";
    if (strchr(path, '\\') != NULL)
        return "has a backslash";
    if (len < 5 || strcmp(path + len - 4, ".job") != 0)
        return "does not end in .job";
    for (const char *at = path; at != NULL; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL) {
        size_t part = strcspn(at, "/");
        if (part == 0 || (part == 1 && at[0] == '.') || (part == 2 && !strncmp(at, "..", 2)))
            return "has an empty part, '.' or '..'";
    }
    return NULL;
}

static void module_load_imports(struct compilation *compilation, struct module *module);

static struct module *module_known(struct compilation *compilation, const struct input *text,
                                   const char **ret_key)
{
    *ret_key = text->overlay != NULL ? text->overlay->path
                                     : arena_printf(&compilation->arena, "%llu:%llu",
                                                    (unsigned long long)text->device,
                                                    (unsigned long long)text->inode);
    return map_get(&compilation->by_path, *ret_key);
}

static bool is_below(const char *real, const char *folder)
{
    char root[4096];
    if (realpath(folder[0] == '\0' ? "." : folder, root) == NULL)
        return false;
    size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);
    return strncmp(real, root, len) == 0 && real[len] == '/';
}

/* True when `path` in `folder` is not a link to a place outside of all folders for imports. */
static bool import_stays_inside(const struct compilation *compilation, const char *folder,
                                const char *path)
{
    char real[4096];
    if (realpath(path, real) == NULL)
        return false;
    bool is_inside = is_below(real, folder);
    for (size_t i = 0; i < compilation->include_count && !is_inside; i++)
        is_inside = is_below(real, compilation->include_dirs[i]);
    return is_inside;
}

/* Tries one folder. False when there is no such file in it. */
static bool import_try(struct compilation *compilation, const char *dir,
                       const struct ast_import *import, struct module *importer,
                       struct module **ret_module)
{
    struct input text;
    const char *key;
    const char *slash = dir[0] == '\0' ? "" : "/";
    const char *path = arena_printf(&compilation->arena, "%s%s%s", dir, slash, import->path.text);
    if (text_read(compilation, path, &text) != NULL)
        return false;
    bool is_unsaved = text.overlay != NULL && access(path, F_OK) != 0; /* So it is no link. */
    if (!is_unsaved && !import_stays_inside(compilation, dir, path)) {
        free(text.bytes);
        diag_report(&compilation->sink, DIAG_BAD_IMPORT_PATH, import->path.span,
                    "the import path is a link that leaves its folder");
        return true;
    }
    *ret_module = module_known(compilation, &text, &key);
    if (*ret_module == NULL) {
        *ret_module = module_create(compilation, path, import->path.text, &text);
        (*ret_module)->depth = importer->depth + 1;
        (*ret_module)->importer = importer;
        (*ret_module)->imported_at = import->path.span;
        map_add(&compilation->by_path, key, *ret_module);
        module_load_imports(compilation, *ret_module);
    }
    free(text.bytes);
    return true;
}

static const char *folder_of(struct compilation *compilation, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return "";
    return slash == path ? "/." : arena_copy(&compilation->arena, path, (size_t)(slash - path));
}

static struct module *import_find(struct compilation *compilation, const struct ast_import *import,
                                  struct module *importer)
{
    struct module *module = NULL;
    for (size_t i = 0; i < compilation->include_count; i++) {
        if (import_try(compilation, compilation->include_dirs[i], import, importer, &module))
            return module;
    }
    const char *folder = folder_of(compilation, importer->path);
    if (import_try(compilation, folder, import, importer, &module))
        return module;
    diag_report(&compilation->sink, DIAG_IMPORT_NOT_FOUND, import->path.span,
                "cannot read '%.256s' in any -I folder or beside this file", import->path.text);
    return NULL;
}

/* False when the import must not even be looked up. */
static bool import_is_allowed(struct compilation *compilation, const struct ast_import *import,
                              const struct module *importer)
{
    struct diag_sink *sink = &compilation->sink;
    const char *fault = import_path_fault(import->path.text);
    if (fault != NULL)
        diag_report(sink, DIAG_BAD_IMPORT_PATH, import->path.span, "the import path %s", fault);
    else if (importer->depth >= LIMIT_IMPORT_DEPTH)
        diag_report(sink, DIAG_IMPORT_TOO_DEEP, import->path.span,
                    "imports are nested more than %u deep", LIMIT_IMPORT_DEPTH);
    else if (compilation->count >= LIMIT_FILES)
        diag_report(sink, DIAG_TOO_MANY, import->path.span, "more than %u files", LIMIT_FILES);
    else
        return true;
    return false;
}

/* The way from `top` down to `module`, which is not deeper than imports may be. */
static void note_chain(struct diag_sink *sink, const struct module *top,
                       const struct module *module)
{
    if (module == top || module->importer == NULL)
        return;
    note_chain(sink, top, module->importer);
    diag_note(sink, module->imported_at, "'%.256s' imports '%.256s' here", module->importer->file,
              module->file);
}

static bool import_is_usable(struct compilation *compilation, struct module *importer,
                             const struct ast_import *import, const struct module *module)
{
    if (module->state == MODULE_LOADING) {
        diag_report(&compilation->sink, DIAG_IMPORT_CYCLE, import->path.span,
                    "'%.256s' is imported by way of itself", import->path.text);
        note_chain(&compilation->sink, module, importer);
        return false;
    }
    for (struct module_import *at = importer->imports; at != NULL; at = at->next) {
        if (at->module != module)
            continue;
        diag_report(&compilation->sink, DIAG_DUPLICATE_IMPORT, import->path.span,
                    "'%.256s' is imported twice", import->path.text);
        diag_note(&compilation->sink, at->span, "first imported here");
        diag_fix(&compilation->sink, FIX_MAYBE_INCORRECT, span_with_line(import->span), "%s", "");
        return false;
    }
    return true;
}

static void module_load_import(struct compilation *compilation, struct module *importer,
                               const struct ast_import *import, struct module_import ***end)
{
    struct module *module = NULL;
    if (import->path.kind == LITERAL_STRING && import_is_allowed(compilation, import, importer))
        module = import_find(compilation, import, importer);
    if (module == NULL) {
        importer->is_broken = true;
        return;
    }
    importer->is_broken |= module->is_broken;
    if (!import_is_usable(compilation, importer, import, module)) {
        importer->is_broken |= module->state == MODULE_LOADING;
        return;
    }
    struct module_import *link = arena_alloc(&compilation->arena, sizeof(*link));
    *link = (struct module_import){.module = module,
                                   .span = import->path.span,
                                   .statement = import->span,
                                   .path = import->path.text};
    **end = link;
    *end = &link->next;
}

/* Depth first, so that a module follows everything it imports. */
static void module_load_imports(struct compilation *compilation, struct module *module)
{
    struct module_import **end = &module->imports;
    for (struct ast_import *import = module->ast->imports; import != NULL; import = import->next)
        module_load_import(compilation, module, import, &end);
    module->state = MODULE_LOADED;
    *compilation->modules_end = module;
    compilation->modules_end = &module->next;
}

struct module *compilation_load(struct compilation *compilation, const char *path,
                                const char **ret_fault)
{
    struct input text;
    const char *key;
    *ret_fault = text_read(compilation, path, &text);
    if (*ret_fault != NULL)
        return NULL;
    struct module *module = module_known(compilation, &text, &key);
    if (module == NULL) {
        module = module_create(compilation, path, file_below_root(compilation, path), &text);
        map_add(&compilation->by_path, key, module);
        module_load_imports(compilation, module);
    }
    free(text.bytes);
    return module;
}

struct module *compilation_load_text(struct compilation *compilation, const char *path,
                                     const char *text, size_t size)
{
    struct input file = {.bytes = (char *)(uintptr_t)text, .size = size};
    struct module *module = module_create(compilation, path, base_name(path), &file);
    module_load_imports(compilation, module);
    return module;
}
