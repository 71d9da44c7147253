/* folder.c - walks a folder for schemas. */
#include "folder.h"

#include <errno.h>
#include <fts.h>
#include <string.h>

#include "diag_print.h"

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

static bool is_left_out(const struct folder_filter *filter, const FTSENT *entry)
{
    if (entry->fts_level == FTS_ROOTLEVEL)
        return false;
    return entry->fts_name[0] == '.' || (entry->fts_info == FTS_D && filter->is_flat);
}

/* What is in "." is called as if it had been named by itself. */
static const char *path_shown(struct arena *arena, const char *folder, const FTSENT *entry)
{
    size_t skipped = strcmp(folder, ".") == 0 ? 2 : 0;
    return arena_copy(arena, entry->fts_path + skipped, entry->fts_pathlen - skipped);
}

static bool complain(const char *path, int fault)
{
    diag_say("cannot read '%s': %s", path, strerror(fault));
    return false;
}

/* A folder comes twice, before what is in it and after; false after a message about this entry. */
static bool entry_take(struct arena *arena, const char *folder, const struct folder_filter *filter,
                       FTS *walk, FTSENT *entry, struct texts *found)
{
    bool is_out = is_left_out(filter, entry);
    bool is_broken = entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR ||
                     (entry->fts_info == FTS_NS && entry->fts_errno != ENOENT);
    if (is_broken && !is_out)
        return complain(entry->fts_path, entry->fts_errno);
    if (is_out && entry->fts_info == FTS_D)
        fts_set(walk, entry, FTS_SKIP);
    else if (!is_out && entry->fts_info == FTS_F && folder_is_schema(entry->fts_name))
        texts_add(found, path_shown(arena, folder, entry));
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

bool folder_walk(struct arena *arena, const char *folder, const struct folder_filter *filter,
                 struct texts *found)
{
    char *root = folder_trim(arena, folder);
    FTS *walk =
        fts_open((char *[]){root, NULL}, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    if (walk == NULL)
        return complain(folder, errno);
    bool is_good = true;
    FTSENT *entry;
    while (errno = 0, (entry = fts_read(walk)) != NULL)
        is_good &= entry_take(arena, root, filter, walk, entry, found);
    if (errno != 0)
        is_good = complain(folder, errno);
    fts_close(walk);
    return is_good;
}
