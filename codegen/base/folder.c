/* folder.c - walks a folder for schemas. */
#include "folder.h"

#include <errno.h>
#include <fnmatch.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "say.h"

bool folder_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool folder_is_schema(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    size_t len = strlen(name);
    return len > 4 && strcmp(name + len - 4, ".job") == 0;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

struct walk {
    struct arena *arena;
    const char *folder; /* as named, without slashes behind it */
    const char *below;  /* the same as from the root of the filter: "" or "jobs/" */
    const struct folder_filter *filter;
    FTS *fts;
    struct folder_finds *found;
};

/* The folder as from `root`; "" when it is not inside. */
static const char *folder_below(struct arena *arena, const char *folder, const char *root)
{
    char real[4096];
    size_t len = root == NULL || strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (root == NULL || realpath(folder, real) == NULL || strncmp(real, root, len) != 0 ||
        real[len] != '/')
        return "";
    return arena_printf(arena, "%s/", real + len + 1);
}

static bool is_excluded(const struct walk *walk, const FTSENT *entry)
{
    const struct texts *exclude = walk->filter->exclude;
    const char *inside = entry->fts_path + strlen(walk->folder);
    const char *path = arena_printf(walk->arena, "%s%s", walk->below, inside + strspn(inside, "/"));
    for (size_t i = 0; i < exclude->count; i++) {
        bool is_path = strchr(exclude->items[i], '/') != NULL;
        if (fnmatch(exclude->items[i], is_path ? path : entry->fts_name, FNM_PATHNAME) == 0)
            return true;
    }
    return false;
}

/* What is in "." is called as if it had been named by itself. */
static const char *path_shown(const struct walk *walk, const FTSENT *entry)
{
    size_t skipped = strcmp(walk->folder, ".") == 0 ? 2 : 0;
    return arena_copy(walk->arena, entry->fts_path + skipped, entry->fts_pathlen - skipped);
}

/* Whether the folder is another project; the first one is remembered. */
static bool is_project(const struct walk *walk, const FTSENT *entry)
{
    const char *file = arena_printf(walk->arena, "%s/" PROJECT_FILE, entry->fts_path);
    if (access(file, F_OK) != 0)
        return false;
    if (walk->found->project == NULL)
        walk->found->project = path_shown(walk, entry);
    return true;
}

static bool is_left_out(const struct walk *walk, const FTSENT *entry)
{
    if (entry->fts_level == FTS_ROOTLEVEL)
        return false;
    if (entry->fts_name[0] == '.' || (walk->filter->exclude != NULL && is_excluded(walk, entry)))
        return true;
    return entry->fts_info == FTS_D && (walk->filter->is_flat || is_project(walk, entry));
}

/* A folder comes twice, before what is in it and after; false after a message about this entry. */
static bool entry_take(const struct walk *walk, FTSENT *entry)
{
    bool is_folder = entry->fts_info == FTS_D || entry->fts_info == FTS_DP;
    bool is_broken = entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR ||
                     (entry->fts_info == FTS_NS && entry->fts_errno != ENOENT);
    bool is_wanted =
        is_folder || is_broken || (entry->fts_info == FTS_F && folder_is_schema(entry->fts_name));
    if (entry->fts_info == FTS_DP || !is_wanted)
        return true;
    if (is_left_out(walk, entry))
        fts_set(walk->fts, entry, FTS_SKIP);
    else if (is_broken)
        return say_unread(entry->fts_path, strerror(entry->fts_errno));
    else if (!is_folder)
        texts_add(&walk->found->schemas, path_shown(walk, entry));
    return true;
}

/* The folder without slashes behind it. */
static char *folder_trim(struct arena *arena, const char *folder)
{
    size_t len = strlen(folder);
    while (len > 1 && folder[len - 1] == '/')
        len--;
    return arena_copy(arena, folder, len);
}

static bool entries_take(const struct walk *walk)
{
    bool is_good = true;
    FTSENT *entry;
    while (errno = 0, (entry = fts_read(walk->fts)) != NULL)
        is_good &= entry_take(walk, entry);
    return errno == 0 ? is_good : say_unread(walk->folder, strerror(errno));
}

bool folder_walk(struct arena *arena, const char *folder, const struct folder_filter *filter,
                 struct folder_finds *found)
{
    char *roots[] = {folder_trim(arena, folder), NULL};
    struct walk walk = {.arena = arena,
                        .folder = roots[0],
                        .below = folder_below(arena, folder, filter->root),
                        .filter = filter,
                        .fts = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name),
                        .found = found};
    if (walk.fts == NULL)
        return say_unread(folder, strerror(errno));
    bool is_good = entries_take(&walk);
    fts_close(walk.fts);
    return is_good;
}
