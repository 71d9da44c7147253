#include "engine/home_store.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const struct culex_home_store *of_process;
static _Thread_local const struct culex_home_store *of_thread;

void culex__home_store_settle(const struct culex_home_store *home)
{
    of_process = home;
}

void culex__home_store_enter(const struct culex_home_store *home)
{
    of_thread = home;
}

static bool texts_are_equal(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* A password may be left out of the environment here: see culex__environment_forget. */
static bool store_is_home(const struct culex_home_store *home, const char *chosen)
{
    if (home->url != NULL)
        return strcmp(home->url, chosen) == 0;
    if (home->url_file != NULL)
        return texts_are_equal(home->url_file, getenv("CULEX_URL_FILE"));
    return strstr(chosen, "://***") == NULL;
}

static bool prefix_is_home(const struct culex_home_store *home, const char *chosen,
                           const char *prefix)
{
    const char *wanted = prefix != NULL ? prefix : "culex";
    const char *own = home->prefix != NULL ? home->prefix : "culex";
    return strncmp(chosen, "redis", 5) != 0 || strcmp(wanted, own) == 0;
}

culex_status culex__home_store_check(const char *chosen, const char *prefix, culex_error *error)
{
    const struct culex_home_store *home = of_thread != NULL ? of_thread : of_process;
    bool is_lonely = home == of_process && strncmp(chosen, "memory:", 7) == 0;
    if (home == NULL ||
        (!is_lonely && store_is_home(home, chosen) && prefix_is_home(home, chosen, prefix)))
        return CULEX_OK;
    return culex__fail(error, CULEX_EURL,
                       "a client without a URL would not reach the store of this handler's worker "
                       "here: use culex_run_client(run), which does, or name the store that you "
                       "mean");
}
