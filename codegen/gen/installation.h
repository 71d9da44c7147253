/* installation.h - where the parts of culexc are that are no C: the renderer and the plug-ins. */
#ifndef CULEXC_INSTALLATION_H
#define CULEXC_INSTALLATION_H

#include <stdbool.h>

#include "arena.h"

struct installation {
    const char *python;   /* a path, or a name for the PATH */
    const char *renderer; /* its folder */
    const char *plugins;  /* the folder of those that come with culexc */
};

/* From the environment (CULEX_PYTHON, CULEX_DATADIR), else as installed beside this program, else
 * as the build left them. False after a message. */
bool installation_find(struct arena *arena, struct installation *ret_installation);

#endif
