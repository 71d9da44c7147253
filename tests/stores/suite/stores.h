/* suite/stores.h - fresh stores to test: a temporary file, a memory database, a private
 * redis-server. One kind at a time in a process. Each store of store/stores.def has a fixture in
 * stores.c. */
#ifndef CULEX_SUITE_STORES_H
#define CULEX_SUITE_STORES_H

#include "store/store.h"

struct redis_server;

/* Exit codes of a test: no such store; a store that cannot be tested here, which Meson reads as
 * skipped. */
enum { STORES_UNKNOWN = 2, STORES_SKIP = 77 };

/* Prepares `store`: "model", "memory" (SQLite's) or one of store/stores.def. Returns 0, or says on
 * stderr why not and returns the exit code. A durable server keeps what it acknowledged through a
 * crash. */
int stores_start(const char *store, bool is_durable);
void stores_stop(void);

/* A handle on the store called `name`; the same name again is the same store. Not for the
 * model. NULL, with the reason on stderr, on failure. */
struct culex_store *stores_open(const struct culex_env *env, const char *name);

/* Whether scheduled and waiting are one state told apart by the clock (SQLite). */
bool stores_have_one_ready_state(void);

/* Redis: whether all holds that must of the raw keys of `queue` (redis_check.h). True for
 * other stores. */
bool stores_check(const char *name, const char *queue);

/* How many producers and idempotency keys take room in `queue`, by a look beside the store; -1
 * where none is possible. */
int64_t stores_remembered(const char *name, const char *queue);

/* What a look beside a store needs: the server of "redis"; the path of the file called `name`. */
const struct redis_server *stores_server(void);
void stores_file(const char *name, char *ret_path, size_t size);

/* Redis: one of a few faults, by chance. True when one took place. */
bool stores_fault(unsigned random);

/* Before a call is tried again: gives a restarted server a moment. */
void stores_wait(void);

#endif
