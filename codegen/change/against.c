#include "against.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "diag_print.h"
#include "folder.h"
#include "limits.h"
#include "say.h"
#include "text.h"

void against_init(struct against *against, struct compilation *now, const struct against_files *own)
{
    *against = (struct against){.now = now};
    if (own != NULL)
        against->own = *own;
    compilation_init(&against->then);
}

void against_release(struct against *against)
{
    git_remove(&against->tree);
    project_release(&against->project);
    compilation_release(&against->then);
}

/* ---- older schemas ---- */

static bool load_file(struct against *against, const char *path)
{
    const char *fault;
    struct module *module = compilation_load(&against->then, path, &fault);
    if (module == NULL)
        return say_unread(path, fault);
    check_module(&against->then, module);
    return true;
}

/* Older schemas with errors are refused: what they promised cannot be told. */
static const struct lock *then_make(struct against *against)
{
    struct diag_sink *sink = &against->then.sink;
    const struct lock *lock = sink->errors == 0 ? lock_make(&against->then) : NULL;
    if (sink->errors == 0)
        return lock;
    diag_sort(sink);
    diag_print_human(sink, stderr, false);
    fputs("culexc: the older schema has errors, so there is nothing to compare with\n", stderr);
    return NULL;
}

/* Where a folder of today lay in the commit; without a commit, or outside of it, the folder
 * itself. */
static const char *include_dir_then(struct against *against, const char *dir)
{
    const struct git_tree *tree = &against->tree;
    size_t len = tree->top == NULL ? 0 : strlen(tree->top);
    char real[4096];
    bool is_own = tree->top != NULL && realpath(dir, real) != NULL &&
                  strncmp(real, tree->top, len) == 0 && (real[len] == '/' || real[len] == '\0');
    return is_own ? arena_printf(&against->then.arena, "%s%s", tree->folder, real + len) : dir;
}

/* Folders for the imports of older schemas: `first`, or NULL; those of the command line; those of
 * the project as it was, and as it is, for what lies outside of the repository. */
static void include_dirs_set(struct against *against, const char *first)
{
    const struct compilation *now = against->now;
    const struct project *own = against->own.project;
    const struct texts *old = &against->project.imports;
    size_t named = now->include_count - (own == NULL ? 0 : own->imports.count);
    size_t count = 0;
    const char **dirs =
        arena_alloc(&against->then.arena, (now->include_count + old->count + 1) * sizeof(*dirs));
    if (first != NULL)
        dirs[count++] = first;
    for (size_t i = 0; i < named; i++)
        dirs[count++] = include_dir_then(against, now->include_dirs[i]);
    for (size_t i = 0; i < old->count; i++)
        dirs[count++] = old->items[i];
    for (size_t i = named; i < now->include_count; i++)
        dirs[count++] = include_dir_then(against, now->include_dirs[i]);
    against->then.include_dirs = dirs;
    against->then.include_count = count;
}

/* Loads the schemas in a folder, and counts them. */
static bool load_folder(struct against *against, const char *folder,
                        const struct folder_filter *filter, size_t *count)
{
    struct folder_finds found = {0};
    bool is_good = folder_walk(&against->then.arena, folder, filter, &found);
    for (size_t i = 0; i < found.schemas.count && is_good; i++)
        is_good = load_file(against, found.schemas.items[i]);
    *count += found.schemas.count;
    texts_release(&found.schemas);
    return is_good;
}

static const struct lock *against_folder(struct against *against, const char *folder)
{
    const struct folder_filter filter = {0};
    size_t count = 0;
    include_dirs_set(against, folder);
    if (!load_folder(against, folder, &filter, &count))
        return NULL;
    if (count == 0)
        return say_unread(folder, "no .job file is in it"), NULL;
    return then_make(against);
}

/* ---- version control ---- */

/* `path` as it is called in the extracted tree; NULL when it is in no commit. */
static char *path_then(struct against *against, const char *path)
{
    const struct git_tree *tree = &against->tree;
    size_t len = strlen(tree->top);
    char real[4096];
    if (realpath(path, real) == NULL || strncmp(real, tree->top, len) != 0 ||
        (real[len] != '/' && real[len] != '\0')) {
        say_unread(path, "it is not in this repository");
        return NULL;
    }
    return arena_printf(&against->then.arena, "%s%s", tree->folder, real + len);
}

/* Reads the culex.yaml of the commit, if it has one where that of today lies, or above. */
static bool project_read_then(struct against *against)
{
    const struct git_tree *tree = &against->tree;
    const char *root = against->own.project->root;
    const char *place = path_then(against, root != NULL ? root : against->own.files->items[0]);
    const char *top = path_resolve(&against->then.arena, tree->folder);
    const char *path = place == NULL ? NULL : project_find(&against->then.arena, place);
    const char *fault;
    if (path == NULL || top == NULL || strncmp(path, top, strlen(top)) != 0)
        return place != NULL;
    return project_read(&against->then.sink, path, &against->project, &fault) ||
           say_unread(path, fault);
}

/* A commit without a list of its own leaves out what the project leaves out today. */
static struct folder_filter filter_then(struct against *against, bool is_flat)
{
    bool is_said = against->project.path != NULL;
    struct folder_filter filter =
        project_filter(is_said ? &against->project : against->own.project);
    filter.is_flat = is_flat;
    if (is_said)
        return filter;
    const char *root = filter.root == NULL ? NULL : path_then(against, filter.root);
    filter.root = root == NULL ? NULL : path_resolve(&against->then.arena, root);
    return filter;
}

/* Loads what was in a folder, if there was such a folder, and that is not done yet. */
static bool load_folder_then(struct against *against, struct map *done, const char *folder,
                             bool is_flat, size_t *count)
{
    if (folder == NULL)
        return false;
    const struct folder_filter filter = filter_then(against, is_flat);
    const char *key = arena_printf(&against->then.arena, "%s%s", folder, is_flat ? "" : "/**");
    if (map_add(done, key, against) != NULL || access(folder, F_OK) != 0)
        return true;
    return load_folder(against, folder, &filter, count);
}

/* The same of the folder in which a file of today lies. */
static bool load_beside_then(struct against *against, struct map *done, const char *file,
                             size_t *count)
{
    char *folder = path_then(against, file);
    if (folder != NULL)
        *strrchr(folder, '/') = '\0';
    return load_folder_then(against, done, folder, true, count);
}

/* What lay where today's schemas lie, and anywhere in the folders that were named: a file that is
 * gone since had jobs too, and so had a folder. */
static bool load_named_then(struct against *against, struct map *done, size_t *count)
{
    const struct texts *folders = against->own.folders, *files = against->own.files;
    bool is_good = true;
    for (size_t i = 0; i < folders->count && is_good; i++)
        is_good =
            load_folder_then(against, done, path_then(against, folders->items[i]), false, count);
    for (size_t i = 0; i < files->count && is_good; i++)
        is_good = load_beside_then(against, done, files->items[i], count);
    return is_good;
}

/* The project as it was, wherever the project of today lies. */
static bool load_project_then(struct against *against, struct map *done, size_t *count)
{
    const struct texts *folders = &against->project.folders;
    bool is_good = true;
    for (size_t i = 0; i < folders->count && is_good; i++)
        is_good = load_folder_then(against, done, folders->items[i], false, count);
    return is_good;
}

static bool load_then(struct against *against, size_t *count)
{
    bool is_project = against->own.are_of_project && against->project.path != NULL;
    struct map done;
    map_init(&done, &against->then.arena);
    return is_project ? load_project_then(against, &done, count)
                      : load_named_then(against, &done, count);
}

static const struct lock *against_git(struct against *against, const char *ref)
{
    size_t count = 0;
    if (!git_extract(&against->then.arena, ref, against->own.files->items[0], &against->tree) ||
        !project_read_then(against))
        return NULL;
    include_dirs_set(against, NULL);
    if (!load_then(against, &count))
        return NULL;
    if (count == 0)
        return say_unread(ref, "no .job file was there"), NULL;
    return then_make(against);
}

/* ---- any of them ---- */

const struct lock *against_load_lock(struct against *against, const char *path)
{
    struct buf text = {0};
    struct lock *lock = NULL;
    const char *fault = text_read(path, LIMIT_LOCK_BYTES, &text);
    if (fault != NULL)
        say_unread(path, fault);
    else
        lock = lock_read(&against->now->sink, path, text.data, text.len);
    buf_release(&text);
    return lock;
}

const struct lock *against_load(struct against *against, const char *name)
{
    struct stat info;
    if (strncmp(name, "git:", 4) == 0)
        return against_git(against, name + 4);
    if (stat(name, &info) == 0 && S_ISDIR(info.st_mode))
        return against_folder(against, name);
    if (!folder_is_schema(name))
        return against_load_lock(against, name);
    include_dirs_set(against, NULL);
    return load_file(against, name) ? then_make(against) : NULL;
}
