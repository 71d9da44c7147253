/* limits.h - every bound that the compiler puts on a schema, in one place.
 *
 * A schema within these bounds is compiled in bounded time and memory; one
 * beyond them gets a diagnostic. Lengths are bytes unless the name says else. What the runtime
 * bounds too has its number from there. */
#ifndef CULEXC_LIMITS_H
#define CULEXC_LIMITS_H

#include <assert.h>

#include "base/limits.h"

/* Files. */
#define LIMIT_FILE_BYTES    (1024u * 1024u)
#define LIMIT_FILES         1000u
#define LIMIT_IMPORT_DEPTH  32u
#define LIMIT_PATH_BYTES    1024u
#define LIMIT_STEM_BYTES    64u
#define LIMIT_PROJECT_BYTES (64u * 1024u)
#define LIMIT_LOCK_BYTES    (32u * 1024u * 1024u)
#define LIMIT_LIVE_BYTES    (8u * 1024u * 1024u)

/* Plug-ins, the renderer among them. */
#define LIMIT_ANSWER_BYTES   (256u * 1024u * 1024u)
#define LIMIT_ANSWER_FILES   20000u /* files and errors in one answer */
#define LIMIT_PLUGIN_SECONDS 120u   /* unless --timeout says else */
#define LIMIT_TIMEOUT_MAX    3600u  /* what may be asked for */

/* Diagnostics of one run. */
#define LIMIT_ERRORS     20u
#define LIMIT_WARNINGS   100u
#define LIMIT_ERRORS_MAX 1000u /* what may be asked for */

/* JSON: locks, listings, answers of plug-ins, messages of editors. */
#define LIMIT_JSON_DEPTH 64u /* objects and lists inside each other */

/* Messages between an editor and the language server. */
#define LIMIT_MESSAGE_BYTES  (8u * 1024u * 1024u)    /* the largest file, with each byte escaped */
#define LIMIT_MESSAGE_SKIP   (1024u * 1024u * 1024u) /* what is longer is read over and refused */
#define LIMIT_HEADER_BYTES   4096u
#define LIMIT_MESSAGE_NODES  50000u               /* values in one message */
#define LIMIT_DOCUMENTS      256u                 /* open at a time */
#define LIMIT_LOCK_TYPING    (4u * 1024u * 1024u) /* a larger lock is not read while typing */
#define LIMIT_FOLDERS        16u                  /* of a workspace */
#define LIMIT_FOLDER_DEPTH   16u
#define LIMIT_FOLDER_ENTRIES 20000u
#define LIMIT_ANSWERS        1000u /* places or words in one answer */

/* Names and texts. */
#define LIMIT_NAME_BYTES    64u
#define LIMIT_QUEUE_BYTES   ((unsigned)CULEX_QUEUE_NAME_MAX)
#define LIMIT_TAGS          ((unsigned)CULEX_TAGS_MAX)
/* '.' and a name behind it, and it is the longest job of a store. */
#define LIMIT_PACKAGE_BYTES (CULEX_JOB_NAME_MAX - 1 - LIMIT_NAME_BYTES)
#define LIMIT_WAS           16u

/* Shapes. */
#define LIMIT_VERSIONS      256u                         /* of one job that a lock remembers */
#define LIMIT_FIELDS        ((unsigned)CULEX_FIELDS_MAX) /* of one struct, params or returns */
#define LIMIT_ENUM_VALUES   4096u
#define LIMIT_LIST_COUNT    ((unsigned)CULEX_LIST_MAX) /* N of [<=N] and [N] */
/* Params, structs and lists inside each other. */
#define LIMIT_PAYLOAD_DEPTH ((unsigned)CULEX_PAYLOAD_DEPTH_MAX)
#define LIMIT_STRUCT_DEPTH  (LIMIT_PAYLOAD_DEPTH - 1) /* params are the outermost */
#define LIMIT_USER_TEXT     CULEX_USER_TEXT_MAX       /* bytes of a value of a user's own type */
#define LIMIT_STRUCT_CELLS  1000000u /* values inside one struct, arrays multiplied out */
#define LIMIT_LEN           (64u * 1024u * 1024u) /* N of max_len, min_len, len */

/* Settings. */
#define LIMIT_PRIORITY    9
#define LIMIT_KEEP_LOG    1000
#define LIMIT_RETRIES     1000
#define LIMIT_STEPS       64u
#define LIMIT_FACTOR      100 /* of exponential and linear backoff */
#define LIMIT_EXPONENT    10  /* of polynomial backoff */
#define LIMIT_RUN_LIMITS  8u  /* of one job: concurrency, rate and fair together */
#define LIMIT_LIMIT_COUNT CULEX_LIMIT_COUNT_MAX           /* of concurrency, rate and burst */
#define LIMIT_NEEDS       ((unsigned)CULEX_NEEDS_MAX)     /* of one job */
#define LIMIT_NEED_NAME   ((unsigned)CULEX_NEED_NAME_MAX) /* bytes */
#define LIMIT_NEED_UNITS  CULEX_NEED_UNITS_MAX
#define LIMIT_LIMIT_NAME  ((unsigned)CULEX_LIMIT_NAME_MAX) /* bytes */
#define LIMIT_UNIQUE_NS   (30 * INT64_C(86400000000000))   /* how long a key is held at most */
#define LIMIT_PERIOD_NS   (CULEX_LIMIT_PERIOD_MAX_MS * INT64_C(1000000))
#define LIMIT_PER_MS      1000                             /* tokens of a rate */
#define LIMIT_SETTING_NS  (3650 * INT64_C(86400000000000)) /* of all durations: ten years */
#define LIMIT_MEMORY_MIN  (INT64_C(1) << 20)
#define LIMIT_MEMORY_MAX  (INT64_C(1) << 40)

/* A figure, because tables outside of C are held to it. */
static_assert(LIMIT_PRIORITY == CULEX_PRIORITY_MAX, "as many as the runtime keeps apart");
static_assert(LIMIT_KEEP_LOG == CULEX_RUN_LINES_MAX, "as many as a store keeps");
static_assert(LIMIT_PACKAGE_BYTES == 190, "as the language reference says");

#endif
