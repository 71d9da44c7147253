#include "against.h"

#include <errno.h>
#include <fts.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "diag_print.h"
#include "limits.h"
#include "text.h"

void against_init(struct against *against, struct compilation *now, const char *const *files,
                  size_t file_count)
{
    *against = (struct against){.now = now, .files = files, .file_count = file_count};
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

static bool is_schema(const char *name)
{
    size_t len = strlen(name);
    return len > 4 && strcmp(name + len - 4, ".job") == 0;
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

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Loads every schema in a folder; those in folders inside it too, if `is_deep`. */
static bool load_folder(struct against *against, const char *folder, bool is_deep, unsigned *count)
{
    char *const roots[] = {(char *)(uintptr_t)folder, NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    bool is_good = walk != NULL || complain(folder, strerror(errno));
    while (is_good) {
        FTSENT *entry = fts_read(walk);
        if (entry == NULL)
            break;
        if (entry->fts_info == FTS_D && entry->fts_level > 0 && !is_deep)
            fts_set(walk, entry, FTS_SKIP);
        if (entry->fts_info != FTS_F || !is_schema(entry->fts_name))
            continue;
        is_good = load_file(against, entry->fts_path);
        ++*count;
    }
    if (walk != NULL)
        fts_close(walk);
    return is_good;
}

static const struct lock *against_folder(struct against *against, const char *folder)
{
    unsigned count = 0;
    include_dirs_set(against, folder, NULL, NULL);
    if (!load_folder(against, folder, true, &count))
        return NULL;
    if (count == 0)
        return complain(folder, "no .job file is in it"), NULL;
    return then_make(against);
}

/* ---- version control ---- */

/* The folder of `path`, as it is called in the extracted tree; NULL when it is in no commit. */
static const char *folder_then(struct against *against, const char *path)
{
    const struct git_tree *tree = &against->tree;
    size_t len = strlen(tree->top);
    char real[4096];
    if (realpath(path, real) == NULL || strncmp(real, tree->top, len) != 0 || real[len] != '/')
        return NULL;
    *strrchr(real + len, '/') = '\0';
    return arena_printf(&against->then.arena, "%s%s", tree->folder, real + len);
}

/* What lay where today's schemas lie: a file that is gone since had jobs too. */
static const struct lock *against_git(struct against *against, const char *ref)
{
    struct map folders;
    unsigned count = 0;
    map_init(&folders, &against->then.arena);
    if (!git_extract(&against->then.arena, ref, against->files[0], &against->tree))
        return NULL;
    include_dirs_set(against, NULL, against->tree.top, against->tree.folder);
    for (size_t i = 0; i < against->file_count; i++) {
        const char *folder = folder_then(against, against->files[i]);
        if (folder == NULL)
            return complain(against->files[i], "it is not in this repository"), NULL;
        if (map_add(&folders, folder, against) == NULL && access(folder, F_OK) == 0 &&
            !load_folder(against, folder, false, &count))
            return NULL;
    }
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
    if (!is_schema(name))
        return against_load_lock(against, name);
    include_dirs_set(against, NULL, NULL, NULL);
    return load_file(against, name) ? then_make(against) : NULL;
}
