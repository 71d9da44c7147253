/* platform/zone_file.h - files of this machine's tz database, whose folder TZDIR names, else it is
 * /usr/share/zoneinfo. core/zone.h reads what they say. */
#ifndef CULEX_PLATFORM_ZONE_FILE_H
#define CULEX_PLATFORM_ZONE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <culex/error.h>

/* All bytes of a zone's file, for free(). "UTC" is there without a database. CULEX_EINVAL: a zone
 * cannot have this name; CULEX_ENOTFOUND: the database has none of this name; CULEX_EUNSUPPORTED:
 * there is no database, or it cannot be read; CULEX_ECORRUPT: the file is larger than any zone's.
 */
culex_status culex__zone_file_read(const char *name, uint8_t **ret_bytes, size_t *ret_len,
                                   culex_error *error);

#endif
