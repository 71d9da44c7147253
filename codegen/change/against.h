/* against.h - finds the older state that a schema is compared with. */
#ifndef CULEXC_AGAINST_H
#define CULEXC_AGAINST_H

#include "git.h"
#include "lock.h"

struct against {
    struct compilation *now;  /* takes the reports; has the present schemas */
    struct compilation then;  /* of older schema files */
    const char *const *files; /* the present schemas as named */
    size_t file_count;
    struct git_tree tree;
};

void against_init(struct against *against, struct compilation *now, const char *const *files,
                  size_t file_count);

/* `name`: an older schema (FILE.job), a folder of them, git:REF, or a lock. NULL after a message
 * on standard error, or after a report in against->now->sink. */
const struct lock *against_load(struct against *against, const char *name);

/* The same when it can only be a lock. */
const struct lock *against_load_lock(struct against *against, const char *path);

void against_release(struct against *against);

#endif
