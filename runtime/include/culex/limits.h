/* culex/limits.h - the limits of a queue's runs, seen and changed from any process.
 *
 * A limit is known once a run with it was enqueued, by its name in the queue: JOB:WORD, as
 * "shop.send_email:rate_by_tenant". Nothing here needs the schema. Clients, threads and errors are
 * as in culex/client.h.
 *
 * A run with limits that waits is parked while one of them has no room for it. One that is admitted
 * again, or always had room, stands in line: it counts neither as active, for nobody has claimed
 * it, nor as parked. A worker's next step may claim it.
 */
#ifndef CULEX_LIMITS_H
#define CULEX_LIMITS_H

#include <culex/client.h>
#include <culex/job.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers of a limit. */
typedef struct culex_limit_value {
    uint32_t count; /* concurrency: runs at work at the same time; rate: runs that begin in per_ms;
                       1 to 1,000,000. 0 for a fair share, which has no number, and for needs */
    int64_t per_ms; /* rate: 1 ms to 366 days; else 0 */
    uint32_t burst; /* rate: most that begin at once after a rest, 1 to 1,000,000; else 0. So within
                       per_ms after a rest up to count + burst begin; 1 spaces them evenly */
} culex_limit_value;

typedef struct culex_limit_info {
    const char *name;
    culex_limit_kind kind;
    culex_limit_value declared; /* by the newest run that was enqueued */
    culex_limit_value in_force; /* what was set, or else what was declared */
    bool is_set;                /* by culex_client_limit_set */
    uint64_t keys;              /* that culex_client_limit_keys visits */
    uint64_t active;            /* runs of all keys that are at work */
    uint64_t parked;            /* runs that stand aside because this limit has no room for them;
                                   of a fair share those that any of their limits keeps aside */
} culex_limit_info;

typedef struct culex_limit_key_info {
    const char *key; /* the values that the limit counts apart by, with '+' between them; "" when it
                        has none. Where they have more than 64 bytes in all, or a letter other than
                        A-Z a-z 0-9 _ - . : @ and /, it is '#' and a digest of them */
    uint64_t active;
    uint64_t parked; /* as that of the limit: of a fair share it tells whose runs are held back */
    int64_t next_ms; /* rate: from now until the next run may begin, 0 when one may; else 0 */
} culex_limit_key_info;

/* Called for each limit, and for each key; return false to stop. What they are shown is borrowed.
 */
typedef bool (*culex_limit_visitor)(const culex_limit_info *limit, void *user);
typedef bool (*culex_limit_key_visitor)(const culex_limit_key_info *key, void *user);

/* Visits the limits of `queue`, in alphabetical order. CULEX_ENOTFOUND for one that nobody
 * has used. */
CULEX_API CULEX_MUST_USE culex_status culex_client_limits(culex_client *client, const char *queue,
                                                          culex_limit_visitor visit, void *user,
                                                          culex_error *error);

/* Visits the keys of which something is kept, in the order of their bytes, from the first one
 * behind `after` on (NULL: from the first): those with runs that wait or are at work, and those of
 * a rate that is not back at its full burst. It asks the store for a thousand at a time, so there
 * may be any number, and what comes and goes meanwhile may be among them or not. CULEX_ENOTFOUND
 * when no run with such a limit was ever enqueued in `queue`. */
CULEX_API CULEX_MUST_USE culex_status culex_client_limit_keys(culex_client *client,
                                                              const char *queue, const char *name,
                                                              const char *after,
                                                              culex_limit_key_visitor visit,
                                                              void *user, culex_error *error);

/* From now on `value` is in force for all keys of the limit, whatever runs declare, on all machines
 * and after restarts; NULL: what they declare is again. More room admits runs that are parked at
 * once. Less ends nobody's work: no run begins until there is room. Of a rate, per_ms and burst may
 * be 0: they stay as they are in force, but for a burst above `count`, which becomes `count`: who
 * brakes a rate means it. CULEX_EINVAL when the limit cannot have these numbers: 0
 * runs (hold the queue by culex_client_pause instead), too many, a period for what is no rate,
 * anything for a fair share. CULEX_ENOTFOUND as above. */
CULEX_API CULEX_MUST_USE culex_status culex_client_limit_set(culex_client *client,
                                                             const char *queue, const char *name,
                                                             const culex_limit_value *value,
                                                             culex_error *error);

#ifdef __cplusplus
}
#endif
#endif
