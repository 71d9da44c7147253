/* uri.h - file URIs. */
#ifndef CULEXC_URI_H
#define CULEXC_URI_H

#include "arena.h"

/* The absolute path that a file URI of this machine names; NULL when it names none. */
const char *uri_path(struct arena *arena, const char *uri);

const char *uri_of_path(struct arena *arena, const char *path);

#endif
