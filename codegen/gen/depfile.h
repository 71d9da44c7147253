/* depfile.h - what was made of what, for make and ninja. */
#ifndef CULEXC_DEPFILE_H
#define CULEXC_DEPFILE_H

#include <stdbool.h>

#include "arena.h"

struct path_list {
    const char *path;
    struct path_list *next;
};

/* `list` with `path` before it. */
struct path_list *path_list_add(struct arena *arena, struct path_list *list, const char *path);

/* Writes "TARGETS: SOURCES" as `depfile`, only if it changes. False after a message. */
bool depfile_write(const char *depfile, const struct path_list *targets,
                   const struct path_list *sources);

#endif
