/* against.h - finds the older state that a schema is compared with. */
#ifndef CULEXC_AGAINST_H
#define CULEXC_AGAINST_H

#include "git.h"
#include "lock.h"
#include "project.h"

/* What the present schemas were asked for with. Borrowed, and wanted for git:REF only. */
struct against_files {
    const struct texts *files;
    const struct texts *folders; /* in which all schemas are meant */
    const struct project *project;
    bool are_of_project; /* no file was named: the folders are those of the project */
};

struct against {
    struct compilation *now;  /* takes the reports; has the present schemas */
    struct compilation then;  /* of older schema files */
    struct against_files own; /* of today */
    struct project project;   /* of then, as the commit has it; zeroed when it has none */
    struct git_tree tree;
};

/* `own`: NULL when there will be no git:REF. */
void against_init(struct against *against, struct compilation *now,
                  const struct against_files *own);

/* `name`: an older schema (FILE.job), a folder of them, git:REF, or a lock. NULL after a message
 * on standard error, or after a report in against->now->sink. */
const struct lock *against_load(struct against *against, const char *name);

/* The same when it can only be a lock. */
const struct lock *against_load_lock(struct against *against, const char *path);

void against_release(struct against *against);

#endif
