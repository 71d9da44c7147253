/* plugin.h - a program that makes files of schemas: the document of ir_set.h goes to its standard
 * input, and its standard output answers which files there shall be (schemas/plugin.md).
 *
 * It writes nothing itself, so nothing that it says can reach outside the folder for output. */
#ifndef CULEXC_PLUGIN_H
#define CULEXC_PLUGIN_H

#include <stdbool.h>

#include "buf.h"
#include "installation.h"

struct plugin {
    const char *what; /* in messages: "the renderer", "the plug-in 'x'" */
    const char *path; /* what it answers depends on this file; NULL when that is not known */
    const char *argv[4];
    unsigned seconds; /* that it may take */
};

/* The C renderer, which is a plug-in too. */
struct plugin plugin_renderer(struct arena *arena, const struct installation *installation);

/* `name` is a path when it has a slash in it, else one of those that come with culexc, else
 * culexc-gen-NAME is looked for in the PATH. False after a message when it cannot be a name. */
bool plugin_find(struct arena *arena, const struct installation *installation, const char *name,
                 struct plugin *ret_plugin);

/* Runs it. False after a message when it failed, took too long or answered too much. */
bool plugin_ask(const struct plugin *plugin, const struct buf *question, struct buf *ret_answer);

#endif
