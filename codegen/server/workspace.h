/* workspace.h - every file that can be reached: what is open, the .job files below the folders
 * of the workspace, and what these import. */
#ifndef CULEXC_WORKSPACE_H
#define CULEXC_WORKSPACE_H

#include "request.h"

struct file {
    const char *key; /* see module_key() */
    struct analysis *analysis;
    struct module *module;
    struct file *next;
};

/* A name that stands for a thing. */
struct use {
    struct file *file;
    struct span span;
    bool is_declaration;
    struct use *next;
};

struct workspace {
    struct arena arena;
    struct server *server;
    struct analysis_input input;
    struct map by_key; /* -> struct file */
    struct file *files, **end;
    struct owned *owned;
    unsigned count, entries; /* of files; of what was seen in folders */
    bool is_partial;         /* there is more than the limits allow */
};

/* Reads and checks everything, with `overlays` instead of what is on disk. */
void workspace_open(struct workspace *workspace, struct server *server,
                    const struct overlay *overlays);
void workspace_close(struct workspace *workspace);

/* All names of the workspace that stand for `thing`, those of one file in order. */
struct use *workspace_uses(struct workspace *workspace, const struct thing *thing);

#endif
