/* against.h - finds the older state that a schema is compared with. */
#ifndef CULEXC_AGAINST_H
#define CULEXC_AGAINST_H

#include "folder.h"
#include "git.h"
#include "lock.h"

struct against {
    struct compilation *now;     /* takes the reports; has the present schemas */
    struct compilation then;     /* of older schema files */
    const struct texts *files;   /* the present schemas */
    const struct texts *folders; /* in which all of them were asked for */
    const struct folder_filter *filter;
    struct git_tree tree;
};

/* `files`, `folders` and what is left out of these are borrowed, and wanted for git:REF only. */
void against_init(struct against *against, struct compilation *now, const struct texts *files,
                  const struct texts *folders, const struct folder_filter *filter);

/* `name`: an older schema (FILE.job), a folder of them, git:REF, or a lock. NULL after a message
 * on standard error, or after a report in against->now->sink. */
const struct lock *against_load(struct against *against, const char *name);

/* The same when it can only be a lock. */
const struct lock *against_load_lock(struct against *against, const char *path);

void against_release(struct against *against);

#endif
