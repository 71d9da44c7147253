/* base/zone_name.h - names of time zones, as in the tz database: "Europe/Rome", "UTC". */
#ifndef CULEX_BASE_ZONE_NAME_H
#define CULEX_BASE_ZONE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a zone may be called so: letters, digits and "_+-", with single slashes between them, up
 * to CULEX_ZONE_NAME_MAX bytes. Such a name does not lead out of the database's folder. */
bool culex__zone_name_is_good(const char *name, size_t len);

#endif
