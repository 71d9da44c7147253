/* project.h - culex.yaml, which says once for a folder of schemas what each call would have to.
 *
 * It lies in the folder of the schemas or in one above; the nearest counts, and what is below it
 * is one project. Its paths count from its own folder. */
#ifndef CULEXC_PROJECT_H
#define CULEXC_PROJECT_H

#include "diag.h"
#include "folder.h"

/* A zeroed one is that of schemas without a culex.yaml. Paths are as from the current folder. */
struct project {
    const char *path;     /* of the culex.yaml; NULL: there is none */
    struct texts folders; /* what is meant where nothing is named */
    struct texts imports; /* as of -I */
    struct texts exclude; /* patterns, see folder.h */
    const char *root;     /* its folder: absolute, links followed */
    const char *lock;
    unsigned tiers; /* of lint rules, see lint.h; 0: not said */
};

/* The absolute path of the culex.yaml that counts for a file or a folder; NULL: there is none. */
const char *project_find(struct arena *arena, const char *path);

/* Reads the culex.yaml at `path`, which is absolute. What is wrong with it is reported; false
 * when it cannot be read at all: a sentence is then in *ret_fault. All texts lie in the arena of
 * the sink; project_release() is due in any case. */
bool project_read(struct diag_sink *sink, const char *path, struct project *ret_project,
                  const char **ret_fault);

/* The same for a text in memory. */
void project_read_text(struct diag_sink *sink, const char *path, const char *text, size_t size,
                       struct project *ret_project);

void project_release(struct project *project);

/* What is left out of folders in this project. */
struct folder_filter project_filter(const struct project *project);

#endif
