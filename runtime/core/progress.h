/* core/progress.h - how far a run is, as stores keep it: "PERCENT TEXT", "-1 TEXT" for unknown. */
#ifndef CULEX_CORE_PROGRESS_H
#define CULEX_CORE_PROGRESS_H

#include <stdbool.h>

/* NULL, or UTF-8 of at most CULEX_PROGRESS_MAX bytes. */
bool culex__progress_is_valid(const char *progress);

/* Splits what a store kept; anything else than the form above is -1 and the whole text. NULL and ""
 * are -1 and "". *ret_text points into `progress`. */
void culex__progress_split(const char *progress, int *ret_percent, const char **ret_text);

#endif
