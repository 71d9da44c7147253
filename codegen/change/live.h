/* live.h - which versions of which jobs a store has runs of right now.
 *
 * The listing has one JSON object a line:
 * {"job":"shop.send_email","fingerprint":"9c1f0e7ab2d44e10", "runs":12}; other members are skipped.
 * The last line is {"complete":true,"schemas":1}: what made the listing did not fail before it.
 * "schemas" may be left out; it is how many lines there are since the last such line, for listings
 * of several stores may follow each other. */
#ifndef CULEXC_LIVE_H
#define CULEXC_LIVE_H

#include "lock.h"

struct live_runs {
    struct live_runs *next;
    const char *job, *fingerprint;
    struct span span; /* the line */
};

struct live {
    struct live_runs *first;
    struct map versions; /* "job fingerprint" -> live_runs */
    struct map jobs;     /* the first of each */
};

/* From a file ("-": standard input). NULL after a message on standard error or a report in `sink`.
 */
struct live *live_load(struct diag_sink *sink, const char *path);

/* In any version. */
bool live_has_job(const struct live *live, const char *job);

bool live_has(const struct live *live, const char *job, const char *fingerprint);

#endif
