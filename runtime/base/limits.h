/* base/limits.h - the bounds of the runtime that somebody chose.
 *
 * Limits of one store live beside that store. What both stores decide by (losses, crashes, the
 * horizon of tickets) belongs to the rules of runs, in core/run_rules.def. */
#ifndef CULEX_BASE_LIMITS_H
#define CULEX_BASE_LIMITS_H

#include <stdint.h>

/* How far ahead a run may be due: 100 years from now, and before 2150-01-01. All stores keep such
 * times to the ms; what is beyond is a slip of units, or has saturated in 64 bits. */
#define CULEX_DELAY_MAX_MS   INT64_C(3155760000000)
#define CULEX_INSTANT_MAX_MS INT64_C(5680281599999)

/* The longest period of a rate, and the longest time in which its bucket is full again: 366 days.
 */
#define CULEX_LIMIT_PERIOD_MAX_MS INT64_C(31622400000)

enum {
    /* Payload (schemas/payload.md). */
    CULEX_PAYLOAD_MAX = 1024 * 1024, /* bytes of text */
    CULEX_USER_TEXT_MAX = 1023,      /* bytes of a value of a user's own type */
    CULEX_PAYLOAD_DEPTH_MAX = 16,    /* objects and lists inside each other, the outermost is 1 */
    CULEX_LIST_MAX = 65535,          /* elements of a list without a bound of its own */
    CULEX_FIELDS_MAX = 1024,         /* fields of one struct */

    /* Elements of all lists of one payload, as they lie in memory: at most LIST_BYTES_FREE plus
     * LIST_BYTES_FACTOR for each byte of text. A struct of many absent optional fields is two
     * bytes of text and may be kilobytes in memory; this keeps hostile lists of them small. */
    CULEX_LIST_BYTES_FREE = 1024 * 1024,
    CULEX_LIST_BYTES_FACTOR = 64,

    /* What a run may carry beside its payload. */
    CULEX_QUEUE_NAME_MAX = 64,          /* bytes */
    CULEX_QUEUE_LIMIT_MAX = 1000000000, /* runs */
    CULEX_JOB_NAME_MAX = 255,           /* bytes */
    CULEX_TAGS_MAX = 16,
    CULEX_TAG_MAX = 64, /* bytes */
    CULEX_PRIORITY_MAX = 9,
    CULEX_ERROR_TEXT_MAX = 4096, /* bytes */
    CULEX_FOLLOW_UPS_MAX = 100,  /* runs that come in with the end of another */
    CULEX_CHAIN_STEPS_MAX = 16,  /* jobs of a chain */
    CULEX_PROGRESS_MAX = 256,    /* bytes of a run's progress: percent, a space, text */
    CULEX_RUN_LINES_MAX = 1000,  /* log lines that are kept with a run */
    CULEX_RUN_FAILURES_MAX = 8,  /* of them where the job keeps none: what attempts failed by */
    CULEX_KEPT_LINE_MAX = 1000,  /* bytes of the text of a log line that is kept with a run */

    /* A limit (culex/limits.h): its name and its keys, in bytes; the greatest concurrency, rate
     * and burst, in schemas as at run time. */
    CULEX_LIMIT_NAME_MAX = 160,
    CULEX_LIMIT_KEY_MAX = 64,
    CULEX_LIMIT_COUNT_MAX = 1000000,

    /* What a run needs of a worker, and what a worker offers. */
    CULEX_NEEDS_MAX = 4,      /* of a job */
    CULEX_NEED_NAME_MAX = 32, /* bytes */
    CULEX_NEED_UNITS_MAX = 1000,
    CULEX_OFFERS_MAX = 16, /* of a worker */
    CULEX_OFFER_UNITS_MAX = 1000000,

    /* A time zone: its name, and its file, of which the tz database's largest ones have 4 KB. */
    CULEX_ZONE_NAME_MAX = 64,        /* bytes */
    CULEX_ZONE_FILE_MAX = 64 * 1024, /* bytes */

    /* Calls to a store. */
    CULEX_BATCH_MAX = 256,        /* runs claimed or settled at once */
    CULEX_ENQUEUE_BATCH_MAX = 200 /* runs enqueued at once */
};

#endif
