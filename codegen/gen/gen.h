/* gen.h - from checked models to files, by way of the renderer or of another plug-in. */
#ifndef CULEXC_GEN_H
#define CULEXC_GEN_H

#include "ir_set.h"

/* One file of the command line, without errors. */
struct gen_schema {
    struct compilation *compilation;
    const struct module *module;
    bool is_beside; /* another call generates it: shown to the plug-in */
};

struct gen_order {
    const char *out;          /* the folder for all files */
    const char *depfile;      /* NULL: none */
    const char *export_macro; /* NULL: none */
    const char *plugin;       /* NULL: the renderer */
    const struct ir_option *options;
    unsigned seconds; /* that the plug-in may take; 0: LIMIT_PLUGIN_SECONDS */
    bool is_check;    /* write nothing, compare */
};

enum gen_status {
    GEN_DONE,
    GEN_DIFFERS, /* of a check: files are named on standard error */
    GEN_REFUSED, /* the plug-in has complaints: they stand in the compilations' sinks */
    GEN_FAILED   /* after a message */
};

/* Starts one program for all schemas. C that is there as it would be made is not made again; each
 * file is written only if its content changes, and is old or new then, never half. Those that are
 * beside come last, for a plug-in alone. */
enum gen_status gen_run(const struct gen_order *order, const struct gen_schema *schemas,
                        size_t count);

#endif
