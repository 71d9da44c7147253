/* culex/culex.h - everything an application and its generated code need, and which version it is.
 *
 * What a version number promises stands in docs/support.md. */
#ifndef CULEX_CULEX_H
#define CULEX_CULEX_H

#include <culex/batch.h>
#include <culex/bulk.h>
#include <culex/chain.h>
#include <culex/cipher.h>
#include <culex/claims.h>
#include <culex/client.h>
#include <culex/codec.h>
#include <culex/error.h>
#include <culex/exception.h>
#include <culex/export.h>
#include <culex/events.h>
#include <culex/figures.h>
#include <culex/hooks.h>
#include <culex/job.h>
#include <culex/limits.h>
#include <culex/lines.h>
#include <culex/maintain.h>
#include <culex/metadata.h>
#include <culex/schedules.h>
#include <culex/schemas.h>
#include <culex/schema.h>
#include <culex/spool.h>
#include <culex/transfer.h>
#include <culex/typed.h>
#include <culex/types.h>
#include <culex/worker.h>
#include <culex/workers.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CULEX_VERSION_MAJOR 0
#define CULEX_VERSION_MINOR 1
#define CULEX_VERSION_PATCH 0
#define CULEX_VERSION       "0.1.0"

/* For comparisons: #if CULEX_VERSION_NUMBER >= CULEX_VERSION_ENCODE(0, 2, 0). */
#define CULEX_VERSION_ENCODE(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define CULEX_VERSION_NUMBER                                                                       \
    CULEX_VERSION_ENCODE(CULEX_VERSION_MAJOR, CULEX_VERSION_MINOR, CULEX_VERSION_PATCH)

/* The version of the library that the program runs with, as CULEX_VERSION and CULEX_VERSION_NUMBER
 * write it. It may be newer than the headers that the program was compiled with. */
CULEX_API const char *culex_version(void);
CULEX_API int culex_version_number(void);

#ifdef __cplusplus
}
#endif

#endif
