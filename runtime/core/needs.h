/* core/needs.h - what runs need of a worker, and what a worker offers: pure, for all stores (the
 * Lua scripts repeat it).
 *
 * Needs are written as "gpu:1,tape:2": names in the order of their bytes, each once, with its
 * units. An offer is written the same way, and may have 0 units of a name: none of them are free.
 *
 * To a store the needs of a run are the last of its limits, of kind CULEX_LIMIT_NEEDS, without a
 * key. The limit's name is a word and the needs: "needs gpu:1,tape:2". */
#ifndef CULEX_CORE_NEEDS_H
#define CULEX_CORE_NEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <culex/error.h>

#include "base/limits.h"

/* What the name of such a limit begins with, and no other's does. */
#define CULEX__NEEDS_WORD "needs "

enum {
    /* Bytes of such texts, their ends included; of an offer as well. */
    CULEX__NEEDS_SIZE = CULEX_OFFERS_MAX * (CULEX_NEED_NAME_MAX + 9),
};

struct culex_need_row {
    char name[CULEX_NEED_NAME_MAX + 1];
    uint32_t units;
};

struct culex_needs {
    size_t count;
    struct culex_need_row of[CULEX_OFFERS_MAX]; /* sorted by name */
};

/* a to z, 0 to 9, '_' and '-', 1 to CULEX_NEED_NAME_MAX of them. */
bool culex__need_name_is_valid(const char *name, size_t len);

/* Reads needs: 1 to CULEX_NEEDS_MAX names with 1 to CULEX_NEED_UNITS_MAX units each. False, with
 * *ret_needs unspecified, for any other text. */
bool culex__needs_read(const char *text, struct culex_needs *ret_needs);

/* Reads an offer: up to CULEX_OFFERS_MAX names with up to CULEX_OFFER_UNITS_MAX units; "" and NULL
 * are none. */
bool culex__offers_read(const char *text, struct culex_needs *ret_offers);

/* The needs in the name of a limit; NULL when it is of another kind. */
const char *culex__needs_of_limit(const char *name);

/* Where the needs stand in "NAME=KEY;NAME=KEY", as stores keep the limits of a run; NULL: there are
 * none. */
const char *culex__needs_among(const char *limits, size_t len, size_t *ret_len);

/* Puts one more in its place; false when the name is there already or there is no room. */
bool culex__needs_add(struct culex_needs *needs, const char *name, size_t len, uint32_t units);

void culex__needs_write(const struct culex_needs *needs, char ret_text[CULEX__NEEDS_SIZE]);

/* Each name is offered, with however many units. */
bool culex__needs_are_offered(const struct culex_needs *needs, const struct culex_needs *offers);

/* The offer has that many units of each. */
bool culex__needs_fit(const struct culex_needs *needs, const struct culex_needs *offers);

/* Takes the units out of what is offered; names that are not offered are left out. */
void culex__needs_take(const struct culex_needs *needs, struct culex_needs *offers);

#endif
