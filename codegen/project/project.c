/* project.c - finds a culex.yaml, and says what its keys mean. */
#include "project.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "folder.h"
#include "input.h"
#include "limits.h"
#include "lint.h"
#include "reader.h"

/* ---- finding ---- */

static const char *parent_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return ".";
    return slash == path ? "/" : arena_copy(arena, path, (size_t)(slash - path));
}

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

const char *project_find(struct arena *arena, const char *path)
{
    char folder[4096];
    if (realpath(folder_exists(path) ? path : parent_of(arena, path), folder) == NULL)
        return NULL;
    for (;;) {
        bool is_top = strcmp(folder, "/") == 0;
        const char *file = arena_printf(arena, "%s/" PROJECT_FILE, is_top ? "" : folder);
        if (is_file(file))
            return file;
        if (is_top)
            return NULL;
        char *slash = strrchr(folder, '/');
        slash[slash == folder] = '\0';
    }
}

/* ---- paths ---- */

/* Bytes of `path` that are a folder above `other` too, or that itself. */
static size_t shared_length(const char *path, const char *other)
{
    size_t at = 0, shared = 0;
    while (path[at] != '\0' && path[at] == other[at]) {
        at++;
        bool is_end =
            (path[at] == '/' || path[at] == '\0') && (other[at] == '/' || other[at] == '\0');
        shared = is_end ? at : shared;
    }
    return shared;
}

/* An absolute path as it is called from the current folder; it stays absolute where the two have
 * nothing in common. */
static const char *path_from_here(struct arena *arena, const char *path)
{
    char here[4096];
    size_t shared = realpath(".", here) == NULL ? 0 : shared_length(path, here);
    if (shared == 0)
        return path;
    const char *up = "";
    for (const char *at = here + shared; (at = strchr(at, '/')) != NULL; at++)
        up = arena_printf(arena, "%s%s..", up, *up == '\0' ? "" : "/");
    const char *down = path + shared + (path[shared] == '/');
    if (*up == '\0' && *down == '\0')
        return ".";
    return arena_printf(arena, "%s%s%s", up, *up != '\0' && *down != '\0' ? "/" : "", down);
}

/* Without "./" before it and slashes behind it; "" is the folder itself. */
static const char *path_clean(struct arena *arena, const char *path)
{
    while (strncmp(path, "./", 2) == 0)
        path += 2 + strspn(path + 2, "/");
    size_t len = strcmp(path, ".") == 0 ? 0 : strlen(path);
    while (len > 0 && path[len - 1] == '/')
        len--;
    return arena_copy(arena, path, len);
}

/* `path`, which counts from the folder `root`, as it is called from here. */
static const char *path_join(struct arena *arena, const char *root, const char *path)
{
    const char *clean = path_clean(arena, path);
    const char *slash = *clean == '\0' || strcmp(root, "/") == 0 ? "" : "/";
    return path_from_here(arena, arena_printf(arena, "%s%s%s", root, slash, clean));
}

/* ---- keys ---- */

struct reading {
    struct project *project;
    const struct key *key;
    struct span *first; /* of each key that was there */
};

/* False after a report. */
static bool refuse(struct reader *reader, const struct word *value, const char *why)
{
    diag_report(reader->sink, DIAG_PROJECT_VALUE, value->span, "'%.256s' %s", value->text, why);
    return false;
}

/* Whether a part of the path is "..". */
static bool leads_up(const char *path)
{
    for (const char *at = path; at != NULL; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL) {
        if (strcspn(at, "/") == 2 && strncmp(at, "..", 2) == 0)
            return true;
    }
    return false;
}

static bool path_is_good(struct reader *reader, const struct word *value)
{
    if (*value->text == '\0' || strlen(value->text) > LIMIT_PATH_BYTES)
        return refuse(reader, value, "is empty or too long");
    if (*value->text == '/')
        return refuse(reader, value, "is absolute; paths count from the folder of " PROJECT_FILE);
    return true;
}

static bool is_inside(struct reader *reader, const struct word *value)
{
    return path_is_good(reader, value) &&
           (!leads_up(value->text) || refuse(reader, value, "leads out of the project"));
}

static void take_folder(struct reader *reader, const struct word *value)
{
    struct reading *reading = reader->context;
    if (is_inside(reader, value))
        texts_add(&reading->project->folders,
                  path_join(reader->sink->arena, reading->project->root, value->text));
}

static void take_import(struct reader *reader, const struct word *value)
{
    struct reading *reading = reader->context;
    if (path_is_good(reader, value))
        texts_add(&reading->project->imports,
                  path_join(reader->sink->arena, reading->project->root, value->text));
}

/* What a file that was found somewhere above names is written: nowhere but below that file. */
static void take_lock(struct reader *reader, const struct word *value)
{
    struct reading *reading = reader->context;
    if (is_inside(reader, value))
        reading->project->lock =
            path_join(reader->sink->arena, reading->project->root, value->text);
}

/* A slash at the end says "a folder" elsewhere; here one is left out by its name. */
static void take_exclude(struct reader *reader, const struct word *value)
{
    struct reading *reading = reader->context;
    if (!is_inside(reader, value))
        return;
    if (strstr(value->text, "**") != NULL) {
        refuse(reader, value, "has '**'");
        diag_help(reader->sink, "a pattern without '/' counts in every folder");
        return;
    }
    const char *pattern = path_clean(reader->sink->arena, value->text);
    if (*pattern == '\0')
        refuse(reader, value, "is the whole project");
    else
        texts_add(&reading->project->exclude, pattern);
}

static void take_tier(struct reader *reader, const struct word *value)
{
    struct reading *reading = reader->context;
    unsigned tiers = lint_tiers_named(value->text);
    reading->project->tiers |= tiers;
    if (tiers != 0)
        return;
    struct suggestion near = suggestion_start(value->text);
    lint_tiers_offer(&near);
    refuse(reader, value, "is no tier of lint rules");
    if (near.best != NULL)
        diag_suggest(reader->sink, value->span, &near);
    else
        diag_help(reader->sink, "tiers are minimal, basic, standard, strict and comments");
}

static const struct key {
    const char *name;
    bool is_list;
    void (*take)(struct reader *reader, const struct word *value);
} keys[] = {
    {"folders", true, take_folder}, {"imports", true, take_import}, {"exclude", true, take_exclude},
    {"tiers", true, take_tier},     {"lock", false, take_lock},
};
enum { KEY_COUNT = sizeof(keys) / sizeof(keys[0]) };

static bool refuse_key(struct reader *reader, const struct word *key)
{
    struct suggestion near = suggestion_start(key->text);
    for (size_t i = 0; i < KEY_COUNT; i++)
        suggestion_offer(&near, keys[i].name);
    diag_report(reader->sink, DIAG_PROJECT_KEY, key->span, "unknown key '%.64s'", key->text);
    if (near.best != NULL)
        diag_suggest(reader->sink, key->span, &near);
    else
        diag_help(reader->sink, "keys are folders, imports, exclude, tiers and lock");
    return false;
}

static bool take_key(struct reader *reader, const struct word *word)
{
    struct reading *reading = reader->context;
    size_t at = 0;
    while (at < KEY_COUNT && strcmp(keys[at].name, word->text) != 0)
        at++;
    if (at == KEY_COUNT)
        return refuse_key(reader, word);
    struct span *first = &reading->first[at];
    reading->key = &keys[at];
    if (first->source == NULL) {
        *first = word->span;
        return true;
    }
    diag_report(reader->sink, DIAG_PROJECT_KEY, word->span, "'%s' is there twice", word->text);
    diag_note(reader->sink, *first, "first here");
    return false;
}

static void take_value(struct reader *reader, const struct word *value)
{
    const struct reading *reading = reader->context;
    assert(reading->key != NULL); /* A value follows a key that was taken. */
    if (reader->is_in_list && !reading->key->is_list)
        refuse(reader, value, "stands in a list, and this key takes one text");
    else
        reading->key->take(reader, value);
}

/* ---- the whole ---- */

void project_read_text(struct diag_sink *sink, const char *path, const char *text, size_t size,
                       struct project *ret_project)
{
    struct arena *arena = sink->arena;
    const char *root = parent_of(arena, path);
    struct span first[KEY_COUNT] = {0};
    struct reading reading = {.project = ret_project, .first = first};
    *ret_project = (struct project){.path = path_join(arena, root, PROJECT_FILE),
                                    .root = root,
                                    .lock = path_join(arena, root, "jobs.lock")};
    struct reader reader = {.sink = sink,
                            .source = source_create(arena, ret_project->path, text, size),
                            .context = &reading,
                            .take_key = take_key,
                            .take_value = take_value};
    reader_run(&reader);
    if (ret_project->folders.count == 0)
        texts_add(&ret_project->folders, path_join(arena, root, "."));
}

bool project_read(struct diag_sink *sink, const char *path, struct project *ret_project,
                  const char **ret_fault)
{
    struct input input;
    *ret_project = (struct project){0};
    *ret_fault = input_read(path, &input);
    if (*ret_fault == NULL && input.size > LIMIT_PROJECT_BYTES)
        *ret_fault = "larger than 64 KiB";
    else if (*ret_fault == NULL)
        project_read_text(sink, path, input.bytes, input.size, ret_project);
    free(input.bytes);
    return *ret_fault == NULL;
}

void project_release(struct project *project)
{
    texts_release(&project->folders);
    texts_release(&project->imports);
    texts_release(&project->exclude);
}

struct folder_filter project_filter(const struct project *project)
{
    return (struct folder_filter){.root = project->root, .exclude = &project->exclude};
}
