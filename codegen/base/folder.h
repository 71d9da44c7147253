/* folder.h - the schemas in a folder and in the folders inside it.
 *
 * Hidden folders and files are left out, and no link is followed but the folder itself when it is
 * one: so no walk is endless, and none finds a file twice. */
#ifndef CULEXC_FOLDER_H
#define CULEXC_FOLDER_H

#include <stdbool.h>

#include "arena.h"
#include "texts.h"

/* A folder inside the folder that has one of its own is another project, and left out too. */
#define PROJECT_FILE "culex.yaml"

/* What a walk leaves out beside that. A zeroed one leaves out nothing. */
struct folder_filter {
    bool is_flat; /* folders inside the folder */
    /* Patterns with '*', '?' and '[...]', of which none matches a slash. One with a slash is a path
     * that begins in `root`, which is absolute and without links; another is a name in any folder.
     * NULL: none. */
    const struct texts *exclude;
    const char *root;
};

/* Whether there is a folder at `path`, or a link that leads to one. */
bool folder_exists(const char *path);

/* Whether a file of this name or path is a schema. */
bool folder_is_schema(const char *path);

/* What a walk found. A zeroed one is empty; texts_release(&schemas) releases it. */
struct folder_finds {
    struct texts schemas;
    const char *project; /* the first folder that was left out as another project, or NULL */
};

/* Adds the schemas below `folder`, in the order of their names in each folder; the paths begin
 * with that of the folder, unless it is ".", and lie in `arena`. False after a message on standard
 * error when some folder could not be read; the others were. */
bool folder_walk(struct arena *arena, const char *folder, const struct folder_filter *filter,
                 struct folder_finds *found);

#endif
