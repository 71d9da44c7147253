#include "against.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "diag_print.h"
#include "folder.h"
#include "limits.h"
#include "text.h"

void against_init(struct against *against, struct compilation *now, const struct texts *files,
                  const struct texts *folders, const struct folder_filter *filter)
{
    *against = (struct against){.now = now, .files = files, .folders = folders, .filter = filter};
    compilation_init(&against->then);
}

void against_release(struct against *against)
{
    git_remove(&against->tree);
    compilation_release(&against->then);
}

static bool complain(const char *what, const char *fault)
{
    diag_say("cannot read '%s': %s", what, fault);
    return false;
}

/* ---- older schemas ---- */

static bool load_file(struct against *against, const char *path)
{
    const char *fault;
    struct module *module = compilation_load(&against->then, path, &fault);
    if (module == NULL)
        return complain(path, fault);
    check_module(&against->then, module);
    return true;
}

/* Older schemas must be whole too: otherwise nobody can say what they promised. */
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

/* Folders for the imports of older schemas: first their own, then those of today, where `own` is
 * NULL or the folder in which those of the work tree `top` lie. */
static void include_dirs_set(struct against *against, const char *first, const char *top,
                             const char *own)
{
    struct arena *arena = &against->then.arena;
    const struct compilation *now = against->now;
    const char **dirs = arena_alloc(arena, (now->include_count + 1) * sizeof(*dirs));
    size_t len = top == NULL ? 0 : strlen(top);
    size_t count = 0;
    if (first != NULL)
        dirs[count++] = first;
    for (size_t i = 0; i < now->include_count; i++) {
        char real[4096];
        bool is_own = top != NULL && realpath(now->include_dirs[i], real) != NULL &&
                      strncmp(real, top, len) == 0 && (real[len] == '/' || real[len] == '\0');
        dirs[count++] =
            is_own ? arena_printf(arena, "%s%s", own, real + len) : now->include_dirs[i];
    }
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
    include_dirs_set(against, folder, NULL, NULL);
    if (!load_folder(against, folder, &filter, &count))
        return NULL;
    if (count == 0)
        return complain(folder, "no .job file is in it"), NULL;
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
        complain(path, "it is not in this repository");
        return NULL;
    }
    return arena_printf(&against->then.arena, "%s%s", tree->folder, real + len);
}

/* What is left out today was left out then. */
static struct folder_filter filter_then(struct against *against, bool is_flat)
{
    struct folder_filter filter = *against->filter;
    const char *root = filter.root == NULL ? NULL : path_then(against, filter.root);
    filter.is_flat = is_flat;
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
static bool load_then(struct against *against, size_t *count)
{
    struct map done;
    bool is_good = true;
    map_init(&done, &against->then.arena);
    for (size_t i = 0; i < against->folders->count && is_good; i++) {
        const char *folder = path_then(against, against->folders->items[i]);
        is_good = load_folder_then(against, &done, folder, false, count);
    }
    for (size_t i = 0; i < against->files->count && is_good; i++)
        is_good = load_beside_then(against, &done, against->files->items[i], count);
    return is_good;
}

static const struct lock *against_git(struct against *against, const char *ref)
{
    size_t count = 0;
    if (!git_extract(&against->then.arena, ref, against->files->items[0], &against->tree))
        return NULL;
    include_dirs_set(against, NULL, against->tree.top, against->tree.folder);
    if (!load_then(against, &count))
        return NULL;
    if (count == 0)
        return complain(ref, "no .job file was there"), NULL;
    return then_make(against);
}

/* ---- any of them ---- */

const struct lock *against_load_lock(struct against *against, const char *path)
{
    struct buf text = {0};
    struct lock *lock = NULL;
    const char *fault = text_read(path, LIMIT_LOCK_BYTES, &text);
    if (fault != NULL)
        complain(path, fault);
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
    include_dirs_set(against, NULL, NULL, NULL);
    return load_file(against, name) ? then_make(against) : NULL;
}
