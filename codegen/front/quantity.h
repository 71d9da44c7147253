/* quantity.h - durations and sizes as they are written elsewhere: "0.5s", "30 sec", "512MB". */
#ifndef CULEXC_QUANTITY_H
#define CULEXC_QUANTITY_H

#include <stdbool.h>

#include "arena.h"

/* The same in the spelling of the language, or NULL when `text` is no such thing, or none that can
 * be written exactly. A unit alone counts once: "minute" is 1m. */
const char *quantity_duration(struct arena *arena, const char *text);
const char *quantity_size(struct arena *arena, const char *text);

#endif
