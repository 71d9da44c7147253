/* store/sqlite/heritage.c - no SQLite file is opened again by a process that inherited it.
 *
 * SQLite keeps a list of the files that a process has open and what it has locked there. A forked
 * process inherits the list, but none of the kernel's locks: what it opens again goes by locks that
 * it does not have, and when its parent lets go, the next process to close the file removes the log
 * from under it, with every commit in there. A store in memory would be a copy that only the child
 * sees. SQLite reports neither. So this list of our own handles, which a fork inherits as well, is
 * the one thing that this library keeps for the whole process.
 *
 * A handle stays in the list of a child for good: nobody may close it there (see
 * culex__sqlite_abandon). */
#include "store/sqlite/heritage.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "store/sqlite/sqlite.h"
#include "base/error.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct culex_sqlite *first;

/* The handle of another process to this store, or NULL. */
static const struct culex_sqlite *inherited_find(const char *path, pid_t self)
{
    for (const struct culex_sqlite *store = first; store != NULL; store = store->heritage.next) {
        if (store->heritage.owner != self && strcmp(store->path, path) == 0)
            return store;
    }
    return NULL;
}

culex_status culex__sqlite_heritage_enter(struct culex_sqlite *store, culex_error *error)
{
    pid_t self = getpid();
    pthread_mutex_lock(&lock);
    const struct culex_sqlite *inherited = inherited_find(store->path, self);
    pid_t parent = inherited != NULL ? inherited->heritage.owner : 0;
    if (inherited == NULL) {
        store->heritage.owner = self;
        store->heritage.next = first;
        first = store;
    }
    pthread_mutex_unlock(&lock);
    if (inherited == NULL)
        return CULEX_OK;
    return culex__fail(error, CULEX_EUNSUPPORTED,
                       "%s was open in process %ld when this one was forked from it, and SQLite "
                       "would go by locks that this process does not have: fork() before the store "
                       "is opened or after it is closed, or exec() first",
                       store->path, (long)parent);
}

void culex__sqlite_heritage_leave(struct culex_sqlite *store)
{
    if (store->heritage.owner == 0)
        return;
    pthread_mutex_lock(&lock);
    struct culex_sqlite **link = &first;
    while (*link != store) {
        assert(*link != NULL); /* it was entered */
        link = &(*link)->heritage.next;
    }
    *link = store->heritage.next;
    pthread_mutex_unlock(&lock);
}
