/* analysis.h - one compilation on behalf of an editor, and its places as an editor sees them. */
#ifndef CULEXC_ANALYSIS_H
#define CULEXC_ANALYSIS_H

#include "json_out.h"
#include "module.h"
#include "position.h"
#include "project.h"

struct analysis {
    struct compilation compilation;
    struct project project; /* of the file; zeroed where there is none, or it is not well-formed */
    struct module *module;  /* NULL: the file cannot be read */
    struct lines *lines;    /* by index of the source, made when they are asked for */
    enum encoding encoding;
};

/* What is compiled, and how: what the command line said, which a project adds to. All borrowed, as
 * long as the analysis lives. */
struct analysis_input {
    const char *const *include_dirs;
    size_t include_count;
    const struct overlay *overlays;
    unsigned tiers; /* of lint rules, see lint.h; 0: as the project says */
    enum encoding encoding;
    bool has_promises; /* compare with jobs.lock too, see promise.h */
};

/* Loads, checks and lints the file at `path`. Never NULL. */
struct analysis *analysis_create(const struct analysis_input *input, const char *path);
void analysis_release(struct analysis *analysis); /* accepts NULL */

struct lines *analysis_lines(struct analysis *analysis, const struct source *source);

/* The file of a module in the one spelling that tells files apart. */
const char *module_key(struct arena *arena, const struct module *module);

/* Members of protocol objects. */
void write_position(struct json_out *json, const char *name, struct position position);
void write_range(struct json_out *json, const char *name, struct analysis *analysis,
                 struct span span);

#endif
