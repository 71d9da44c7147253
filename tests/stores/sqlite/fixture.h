/* sqlite/fixture.h - a store in a folder of its own, with a clock that the test drives. */
#ifndef CULEX_TESTS_SQLITE_FIXTURE_H
#define CULEX_TESTS_SQLITE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "store/sqlite/opening.h"
#include "store/sqlite/sqlite.h"

/* So short a wait for a lock is for tests that hold the lock themselves. All others have a wait
 * that no load of the machine reaches: a process that is held up may hold the lock meanwhile. */
enum { FIXTURE_BRIEF_MS = 300, FIXTURE_PATIENT_MS = 20000 };

struct fixture {
    char folder[64];
    char path[96];
    struct culex_env env;
    int64_t now_ms;
    int64_t timeout_ms; /* of what is opened from now on; FIXTURE_PATIENT_MS */
    struct culex_store *store;
};

/* Makes the folder; opens nothing. */
void fixture_init(struct fixture *fixture);
void fixture_release(struct fixture *fixture);

/* The same for cmocka: a fixture in *state. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* As fork(), for a child that ends with this process, and that a failed assert ends: cmocka would
 * go on with the next tests in it, and tear down what its parent still uses. Ends by _exit. */
pid_t fixture_fork(void);

/* Opens the file. `version` as in culex__sqlite_open_as. */
struct culex_store *fixture_open(struct fixture *fixture, int version);
culex_status fixture_try_open(struct fixture *fixture, culex_error *error);

/* A run of job "test.job" with five attempts. */
struct culex_new_run fixture_run(const void *payload, size_t len);

/* Enqueues one run without a ticket; fails the test on any error. Returns what became of it, or the
 * id of what must be a new run. */
enum culex_enqueued fixture_enqueue(struct culex_store *store, const char *queue,
                                    const struct culex_new_run *run);
culex_uuid fixture_put(struct culex_store *store, const char *queue,
                       const struct culex_new_run *run);

/* Greater than all before it. */
uint64_t fixture_nonce(void);

/* One step of session `session` with a fresh nonce; release the reply. */
struct culex_step_reply fixture_step(struct culex_store *store, const char *queue,
                                     const char *session, uint32_t want,
                                     const struct culex_ack *acks, size_t ack_count);

/* Runs SQL on the file through a connection of its own. */
void fixture_sql(struct fixture *fixture, const char *sql);
int64_t fixture_ask(struct fixture *fixture, const char *sql);
/* Of the rows of table body those that are a queue's rear, and those that are none. */
#define FIXTURE_REAR "seq & 281474976710655 = 281474976710655"
#define FIXTURE_BODY "seq & 281474976710655 < 281474976710655"
/* Makes views for a connection, which fixture_ask and fixture_sql have too. Of all runs, those of
 * their own and ordinary ones: `place` are the last six bytes of the run's id. Of ordinary ones, in
 * any state. Of the queues, as their rows and their rears tell together. */
#define FIXTURE_RUNS                                                                               \
    "CREATE TEMP VIEW IF NOT EXISTS runs AS SELECT seq, seq & 281474976710655 AS place, queue,"    \
    " state, attempt, priority, payload_len FROM run UNION ALL SELECT seq,"                        \
    " seq & 281474976710655, seq >> 48, state, state <> 'W', seq >> 44 & 15,"                      \
    " iif(state = 'D', 0, length(payload)) FROM (SELECT *, CASE WHEN EXISTS"                       \
    " (SELECT 1 FROM block WHERE first BETWEEN seq - 62 AND seq AND held >> seq - first & 1)"      \
    " THEN 'A' WHEN EXISTS"                                                                        \
    " (SELECT 1 FROM ended WHERE first BETWEEN seq - 62 AND seq AND runs >> seq - first & 1)"      \
    " THEN 'D' ELSE 'W' END AS state FROM body WHERE " FIXTURE_BODY ");"                           \
    "CREATE TEMP VIEW IF NOT EXISTS bodies AS SELECT * FROM body WHERE " FIXTURE_BODY ";"          \
    "CREATE TEMP VIEW IF NOT EXISTS queues AS SELECT q.queue, name, active, kept_done, kept_dead," \
    " kept_cancelled, done, pending + kind AS pending, enqueued + kind AS enqueued,"               \
    " checksum AS number, substr(payload, 1, 8) AS last_producer, length(payload) / 40 AS lasts "  \
    "FROM queue AS q"                                                                              \
    " JOIN body ON seq = (q.queue << 48) + 281474976710655"
int64_t fixture_place(culex_uuid id);
/* A run as fixture_run's that is one of its own from the first, as it expires. */
struct culex_new_run fixture_own_run(const void *payload, size_t len);
void assert_sound(struct fixture *fixture);

#endif
