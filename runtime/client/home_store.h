/* client/home_store.h - the store of the worker that the handlers of this process or thread belong
 * to, so that a client which is opened there without a URL cannot be one of another store.
 *
 * It is a fact about the process or the thread, and culex_client_open has nothing else to learn it
 * from. */
#ifndef CULEX_CLIENT_HOME_STORE_H
#define CULEX_CLIENT_HOME_STORE_H

#include <sys/types.h>

#include <culex/client.h>

/* As the worker was told. Borrowed; both NULL: it goes by the environment. */
struct culex_home_store {
    const char *url;
    const char *url_file;
    const char *prefix;
    struct {
        dev_t device;
        ino_t number;
    } folder; /* that the worker was in: relative paths count from it */
};

/* The folder that this process is in now. */
void culex__home_store_note_folder(struct culex_home_store *home);

/* For a child, all its life. */
void culex__home_store_adopt(const struct culex_home_store *home);

/* For a thread while it runs a handler; NULL for none. */
void culex__home_store_enter(const struct culex_home_store *home);

/* Whether a client without a URL of its own may open `chosen`: CULEX_EURL when that is not the
 * worker's store or its keys do not begin with `prefix`, or it cannot be that one in this process,
 * or is a relative path and this process has left the worker's folder. */
culex_status culex__home_store_check(const char *chosen, const char *prefix, culex_error *error);

#endif
