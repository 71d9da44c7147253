#include "core/offer.h"

#include <string.h>

#include "base/error.h"
#include "base/secret_name.h"

/* A whole number from 1 to the most that may be offered, and nothing behind it; else 0. */
static uint32_t units_read(const char *text)
{
    uint32_t units = 0;
    for (; *text >= '0' && *text <= '9' && units <= CULEX_OFFER_UNITS_MAX; text++)
        units = units * 10 + (uint32_t)(*text - '0');
    return *text == '\0' && units <= CULEX_OFFER_UNITS_MAX ? units : 0;
}

static culex_status offer_add(struct culex_needs *offers, const char *text, culex_error *error)
{
    const char *equals = text != NULL ? strchr(text, '=') : NULL;
    size_t len = equals != NULL ? (size_t)(equals - text) : 0;
    uint32_t units = equals != NULL ? units_read(equals + 1) : 0;
    if (equals == NULL)
        return culex__fail(error, CULEX_EUSAGE,
                           "offer '%s' does not say how many units: write NAME=UNITS, as gpu=2",
                           text != NULL ? text : "");
    if (!culex__need_name_is_valid(text, len))
        return culex__fail(error, CULEX_EUSAGE,
                           "offer '%s': the name is 1 to %d of a to z, 0 to 9, '_' and '-'", text,
                           CULEX_NEED_NAME_MAX);
    if (units == 0)
        return culex__fail(error, CULEX_EUSAGE,
                           "offer '%s': '%s' is not a whole number of units from 1 to %d; leave "
                           "the offer out where there are none",
                           text, equals + 1, CULEX_OFFER_UNITS_MAX);
    if (offers->count == CULEX_OFFERS_MAX)
        return culex__fail(error, CULEX_EUSAGE, "offer '%s' is one too many: a worker has %d", text,
                           CULEX_OFFERS_MAX);
    if (!culex__needs_add(offers, text, len, units))
        return culex__fail(error, CULEX_EUSAGE, "offer '%.*s' is there twice", (int)len, text);
    return CULEX_OK;
}

/* What is wrong may be in a part of it, which says less than the whole. */
culex_status culex__offer_add(struct culex_needs *offers, const char *text, culex_error *error)
{
    culex_status status = offer_add(offers, text, error);
    if (status == CULEX_OK || text == NULL || !culex__text_is_secret(text))
        return status;
    return culex__fail(error, status,
                       "what is given as an offer looks like a URL or a key, and is not shown: "
                       "write NAME=UNITS, as gpu=2");
}
