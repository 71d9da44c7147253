/* gen.h - from the checked model to files, by way of the renderer. */
#ifndef CULEXC_GEN_H
#define CULEXC_GEN_H

#include "module.h"

/* Runs the renderer on `module` and writes its files into the folder `out`, each
 * only if its content changes. `depfile` and `export_macro` may be NULL. False after
 * a message on standard error; an output file is then old or new, never half. */
bool gen_write(struct compilation *compilation, const struct module *module, const char *out,
               const char *depfile, const char *export_macro);

#endif
