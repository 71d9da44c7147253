/* store/sqlite/columns.h - the columns of tables queue and run, each named once.
 *
 * Lists of FIRST(name, ...) and NEXT(name, ...), which differ for the comma before them. From a
 * list come the names in SQL, the parameters, the values that are bound to them and the reading of
 * a row, so all go in one order; schema.sql tells what each means. */
#ifndef CULEX_STORE_SQLITE_COLUMNS_H
#define CULEX_STORE_SQLITE_COLUMNS_H

#include <assert.h>

#include "core/run.h"

/* What struct culex_sqlite_queue holds of a row, but for its key: (name, member). */
#define CULEX__SQLITE_QUEUE_COLUMNS(FIRST, NEXT)                                                   \
    FIRST(paused_until_ms, paused_until_ms)                                                        \
    NEXT(capacity, capacity)                                                                       \
    NEXT(dead_most, dead_most)                                                                     \
    NEXT(front, front)                                                                             \
    NEXT(longest_lease_ms, longest_lease_ms)                                                       \
    NEXT(salt, salt)                                                                               \
    NEXT(sweep, sweep)                                                                             \
    NEXT(swept, swept)                                                                             \
    NEXT(kinds_left, kinds_left)                                                                   \
    NEXT(limits, limits)                                                                           \
    NEXT(sweeps, sweeps)                                                                           \
    NEXT(longest_fill_ms, longest_fill_ms)                                                         \
    NEXT(waits, waits)                                                                             \
    NEXT(batches, batches)                                                                         \
    NEXT(logs, logs)                                                                               \
    NEXT(events_kept, events_kept)                                                                 \
    NEXT(events_last, events_last)                                                                 \
    NEXT(pending, kept[CULEX_RUN_WAITING])                                                         \
    NEXT(active, kept[CULEX_RUN_ACTIVE])                                                           \
    NEXT(kept_done, kept[CULEX_RUN_DONE])                                                          \
    NEXT(kept_dead, kept[CULEX_RUN_DEAD])                                                          \
    NEXT(kept_cancelled, kept[CULEX_RUN_CANCELLED])                                                \
    NEXT(enqueued, enqueued)                                                                       \
    NEXT(done, done)                                                                               \
    NEXT(failed, failed)                                                                           \
    NEXT(crashed, crashed)                                                                         \
    NEXT(lost, lost)                                                                               \
    NEXT(dead, dead)                                                                               \
    NEXT(cancelled, cancelled)                                                                     \
    NEXT(stale, stale)

/* What struct culex_sqlite_run holds: (name, kind, member), by kinds of run.c. Those of the second
 * list are saved when a run has moved. */
#define CULEX__SQLITE_RUN_FIXED(FIRST, NEXT)                                                       \
    FIRST(seq, number, seq)                                                                        \
    NEXT(id, id, id)                                                                               \
    NEXT(priority, small, priority)                                                                \
    NEXT(attempts_max, count, counters.attempts_max)                                               \
    NEXT(timeout_ms, number, timeout_ms)                                                           \
    NEXT(keep_success_ms, number, keep_success_ms)                                                 \
    NEXT(keep_failure_ms, number, keep_failure_ms)                                                 \
    NEXT(retry_for_ms, number, counters.retry_for_ms)                                              \
    NEXT(payload_len, number, payload_len)                                                         \
    NEXT(unique_while, number, unique_while)                                                       \
    NEXT(unique_until_ms, number, unique_until_ms)                                                 \
    NEXT(has_key, flag, has_key)                                                                   \
    NEXT(limits, presence, is_limited)
#define CULEX__SQLITE_RUN_MOVING(FIRST, NEXT)                                                      \
    FIRST(state, state, state)                                                                     \
    NEXT(at_ms, number, at_ms)                                                                     \
    NEXT(is_delayed, flag, is_delayed)                                                             \
    NEXT(attempt, count, attempt)                                                                  \
    NEXT(failures, count, counters.failures)                                                       \
    NEXT(crashes, count, counters.crashes)                                                         \
    NEXT(crash_streak, count, counters.crash_streak)                                               \
    NEXT(losses, count, counters.losses)                                                           \
    NEXT(owner, owner, owner)                                                                      \
    NEXT(is_cancel_requested, flag, is_cancel_requested)                                           \
    NEXT(limit_ms, number, limit_ms)                                                               \
    NEXT(is_started, flag, is_started)                                                             \
    NEXT(expires_at_ms, number, expires_at_ms)                                                     \
    NEXT(aside, number, aside)
#define CULEX__SQLITE_RUN_COLUMNS(FIRST, NEXT)                                                     \
    CULEX__SQLITE_RUN_FIXED(FIRST, NEXT)                                                           \
    CULEX__SQLITE_RUN_MOVING(NEXT, NEXT)

/* A blob, NULL when it is longer than a payload may be; length() reads none of it. */
#define CULEX__SQLITE_BOUNDED(column)                                                              \
    "CASE WHEN length(" #column ") <= 1048576 THEN " #column " END"
static_assert(CULEX_PAYLOAD_BYTES_MAX == 1048576, "the figure in CULEX__SQLITE_BOUNDED");

/* What follows these where more of a run is wanted: (name, what is selected for a whole run, for a
 * claim and for a list, whose fifth parameter says whether it looks into error texts). Claims and
 * lists read no more of a row than they need. */
#define CULEX__SQLITE_RUN_TAIL(NEXT)                                                               \
    NEXT(created_at_ms, "created_at_ms", "created_at_ms", "created_at_ms")                         \
    NEXT(fingerprint, "fingerprint", "fingerprint", "fingerprint")                                 \
    NEXT(checksum, "checksum", "checksum", "checksum")                                             \
    NEXT(job, "job", "job", "job")                                                                 \
    NEXT(tags, "tags", "NULL", "tags")                                                             \
    NEXT(error_text, "error_text", "NULL", "CASE WHEN ?5 THEN error_text END")                     \
    NEXT(result, CULEX__SQLITE_BOUNDED(result), "NULL", "NULL")                                    \
    NEXT(payload, CULEX__SQLITE_BOUNDED(payload), CULEX__SQLITE_BOUNDED(payload), "NULL")          \
    NEXT(progress, "progress", "NULL", "NULL")                                                     \
    NEXT(unique_text, "unique_key", "NULL", "NULL")                                                \
    NEXT(limits_text, "limits", "NULL", "NULL")

/* What an enqueue gives a run; it is waiting, and the rest is as the schema has it. Who replaces
 * one gives it all that can be wanted of a run: the second list. */
#define CULEX__SQLITE_NEW_RUN_BIRTH(FIRST, NEXT)                                                   \
    FIRST(seq, )                                                                                   \
    NEXT(queue, )                                                                                  \
    NEXT(id, )                                                                                     \
    NEXT(created_at_ms, )
#define CULEX__SQLITE_NEW_RUN_WANTS(FIRST, NEXT)                                                   \
    FIRST(priority, )                                                                              \
    NEXT(at_ms, )                                                                                  \
    NEXT(is_delayed, )                                                                             \
    NEXT(attempts_max, )                                                                           \
    NEXT(timeout_ms, )                                                                             \
    NEXT(keep_success_ms, )                                                                        \
    NEXT(keep_failure_ms, )                                                                        \
    NEXT(retry_for_ms, )                                                                           \
    NEXT(expires_at_ms, )                                                                          \
    NEXT(fingerprint, )                                                                            \
    NEXT(checksum, )                                                                               \
    NEXT(payload_len, )                                                                            \
    NEXT(job, )                                                                                    \
    NEXT(unique_key, )                                                                             \
    NEXT(unique_while, )                                                                           \
    NEXT(unique_until_ms, )                                                                        \
    NEXT(has_key, )                                                                                \
    NEXT(tags, )                                                                                   \
    NEXT(aside, )                                                                                  \
    NEXT(limits, )                                                                                 \
    NEXT(share, )                                                                                  \
    NEXT(payload, )
#define CULEX__SQLITE_NEW_RUN_COLUMNS(FIRST, NEXT)                                                 \
    CULEX__SQLITE_NEW_RUN_BIRTH(FIRST, NEXT)                                                       \
    CULEX__SQLITE_NEW_RUN_WANTS(NEXT, NEXT)

#endif
