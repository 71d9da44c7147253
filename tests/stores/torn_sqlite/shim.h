/* torn_sqlite/shim.h - a VFS between SQLite and the system's: it keeps a log of what reaches the
 * files, and fails calls on demand. It becomes the default VFS, so the shipped store runs on it
 * unchanged. One thread at a time. */
#ifndef CULEX_TESTS_SHIM_H
#define CULEX_TESTS_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void shim_install(void);

/* --- the log ------------------------------------------------------------------------------- */

enum shim_kind { SHIM_WRITE, SHIM_TRUNCATE, SHIM_SYNC, SHIM_DELETE };

/* Of a database's name only what follows its path is told: "", "-wal", "-journal". */
enum shim_part { SHIM_DB, SHIM_WAL, SHIM_JOURNAL, SHIM_PART_COUNT };

struct shim_op {
    enum shim_kind kind;
    enum shim_part part;
    int64_t offset; /* TRUNCATE: the new size */
    size_t len;
    unsigned char *bytes;
};

/* Starts an empty log, or ends it. The log stays readable until the next start. */
void shim_record(bool is_on);
size_t shim_op_count(void);
const struct shim_op *shim_op(size_t index);

/* Called after each operation that was logged; NULL for none. */
void shim_notify(void (*after)(void *user), void *user);

/* True between the taking and the giving back of the log's write lock. */
bool shim_has_write_lock(void);

/* --- failures ------------------------------------------------------------------------------ */

enum shim_call {
    SHIM_CALL_OPEN,
    SHIM_CALL_READ,
    SHIM_CALL_WRITE,
    SHIM_CALL_TRUNCATE,
    SHIM_CALL_SYNC,
    SHIM_CALL_SIZE,
    SHIM_CALL_LOCK,
    SHIM_CALL_SHM_MAP,
    SHIM_CALL_SHM_LOCK,
    SHIM_CALL_DELETE,
    SHIM_CALL_ACCESS,
    SHIM_CALL_COUNT
};

/* Lets the n-th call (from 0) of that sort from now on return `code`, and with `is_sticky` all that
 * follow it. */
void shim_fail(enum shim_call call, long n, int code, bool is_sticky);
/* Ends that: how many calls were made to fail. */
long shim_heal(void);

#endif
