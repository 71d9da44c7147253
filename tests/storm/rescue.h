/* storm/rescue.h - how long runs waited after their worker was killed. Measured, never asserted:
 * the machine may have been busy. */
#ifndef CULEX_STORM_RESCUE_H
#define CULEX_STORM_RESCUE_H

#include "book.h"

/* Prints one line a histogram to stdout. */
void rescue_print(const struct book *book);

#endif
