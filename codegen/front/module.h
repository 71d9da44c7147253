/* module.h - schema files and their imports.
 *
 * A compilation holds every file that the command line names or that is reached
 * by imports, each once. Import paths are relative to an -I folder, or to the
 * folder of the importing file; they cannot leave it. */
#ifndef CULEXC_MODULE_H
#define CULEXC_MODULE_H

#include "ast.h"
#include "diag.h"
#include "ir.h"
#include "map.h"

/* A text that is read instead of a file: what an editor holds and has not saved. */
struct overlay {
    const char *path; /* as path_resolve() gives it */
    const char *text;
    size_t size;
    const struct overlay *next;
};

enum module_state { MODULE_LOADING, MODULE_LOADED, MODULE_CHECKED };

struct module_import {
    struct module *module;
    struct span span; /* of the path in the import statement */
    struct span statement;
    const char *path;
    bool is_used;
    struct module_import *next;
};

struct module {
    const char *path; /* as opened and as shown */
    const char *file; /* relative to its root: never depends on the machine */
    const char *stem; /* file name without folder and .job */
    const char *header;
    const char *package; /* NULL: none, or one that is too long */
    struct source *source;
    struct ast_file *ast;
    struct module_import *imports;
    struct map symbols; /* qualified name -> struct symbol */
    struct ir_file *ir;
    enum module_state state;
    unsigned depth;
    struct module *importer; /* by which it was loaded; NULL: it was named */
    struct span imported_at;
    bool is_broken;                /* names may be missing: an unknown one is not reported */
    const struct overlay *overlay; /* what was read instead of the file, or NULL */
    struct module *next;           /* in order of checking: imports first */
};

struct symbol {
    const char *qualified;
    const struct ast_decl *decl;
    struct module *module;
    struct ir_enum *enumeration;
    struct ir_struct *structure;
    struct ir_user *user;
    struct ir_retry *retry; /* of a policy, once a job has asked */
    bool is_imported;       /* a file that imports its own refers to it */
};

struct compilation {
    struct arena arena;
    struct diag_sink sink;
    const char *const *include_dirs; /* borrowed */
    size_t include_count;
    const char *project; /* borrowed: the project file that was read for it; NULL: none */
    const struct overlay *overlays; /* borrowed */
    struct module *modules, **modules_end;
    struct map by_path;
    unsigned count;
};

void compilation_init(struct compilation *compilation);
void compilation_release(struct compilation *compilation);

/* Loads `path` and what it imports. NULL when the file itself cannot be read: a
 * sentence is then in *ret_fault. Everything else is reported as a diagnostic. */
struct module *compilation_load(struct compilation *compilation, const char *path,
                                const char **ret_fault);

/* The same for a text in memory. */
struct module *compilation_load_text(struct compilation *compilation, const char *path,
                                     const char *text, size_t size);

/* The one absolute path of a file, links followed. A file that does not exist yet gets the
 * path that it will have; NULL when there is no such folder either. */
const char *path_resolve(struct arena *arena, const char *path);

#endif
