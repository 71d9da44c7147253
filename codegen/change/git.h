/* git.h - schemas as version control has them. */
#ifndef CULEXC_GIT_H
#define CULEXC_GIT_H

#include <stdbool.h>

#include "arena.h"

struct git_tree {
    const char *top;    /* the work tree's folder */
    const char *folder; /* a new one, with every .job file of the commit in its place below */
};

/* Puts the .job files of `ref` into a temporary folder; `beside` is a file of the work tree. False
 * after a message on standard error. git_remove() is due in any case. */
bool git_extract(struct arena *arena, const char *ref, const char *beside,
                 struct git_tree *ret_tree);

void git_remove(const struct git_tree *tree);

#endif
