/* storm/rescue.h - how long runs waited after their worker was killed. Measured, never asserted:
 * the machine may have been busy. */
#ifndef CULEX_STORM_RESCUE_H
#define CULEX_STORM_RESCUE_H

#include "book.h"

/* Prints one line a histogram to stdout: percentiles, and how many met the goal: within a lease
 * and a second elsewhere, within 200 ms after a restart under the same name. */
void rescue_print(const struct book *book);

#endif
