/* ir_set.h - the models of one command line as one document, which `culexc ir` prints and every
 * plug-in reads: the files that were named, in that order, then those that only they import. */
#ifndef CULEXC_IR_SET_H
#define CULEXC_IR_SET_H

#include "json_out.h"
#include "module.h"

struct ir_set_file {
    const struct module *module;
    bool is_import;
    struct ir_set_file *next;
};

/* A text for the plug-in, which alone knows what it means. */
struct ir_option {
    const char *name, *value;
    const struct ir_option *next;
};

struct ir_set {
    struct arena *arena;      /* borrowed */
    const char *export_macro; /* NULL: none */
    const struct ir_option *options;
    struct ir_set_file *files, **files_end;
    struct map by_path;
};

void ir_set_init(struct ir_set *set, struct arena *arena);

/* Adds a file, once: false when it is there already, by whatever path. Modules are borrowed. */
bool ir_set_add(struct ir_set *set, const struct module *module, bool is_import);

/* After all files that were named: whatever `module` imports, directly or not. */
void ir_set_add_imports(struct ir_set *set, const struct module *module);

/* What stands before the files, and behind them. */
void ir_set_open(struct json_out *json, const struct ir_option *options);
void ir_set_close(struct json_out *json);

/* Appends the document and a line end; `is_compact`: on one line. */
void ir_set_write(const struct ir_set *set, bool is_compact, struct buf *buf);

#endif
