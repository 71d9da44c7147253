/* core/offer.h - what a worker offers for runs that need it, one word of its options: "gpu=2". */
#ifndef CULEX_CORE_OFFER_H
#define CULEX_CORE_OFFER_H

#include <culex/error.h>

#include "core/needs.h"

/* Adds the offer to those that are there. CULEX_EUSAGE says what is wrong with it, or that the name
 * is there already. */
culex_status culex__offer_add(struct culex_needs *offers, const char *text, culex_error *error);

#endif
