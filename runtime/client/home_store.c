#include "client/home_store.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "settings/storesettings.h"
#include "store/register.h"

static const struct culex_home_store *of_process;
static _Thread_local const struct culex_home_store *of_thread;

void culex__home_store_adopt(const struct culex_home_store *home)
{
    of_process = home;
}

void culex__home_store_enter(const struct culex_home_store *home)
{
    of_thread = home;
}

void culex__home_store_note_folder(struct culex_home_store *home)
{
    struct stat here;
    if (stat(".", &here) != 0)
        return;
    home->folder.device = here.st_dev;
    home->folder.number = here.st_ino;
}

static bool folder_is_home(const struct culex_home_store *home)
{
    struct culex_home_store here = {0};
    culex__home_store_note_folder(&here);
    return here.folder.number != 0 && here.folder.number == home->folder.number &&
           here.folder.device == home->folder.device;
}

static bool is_relative(const char *path)
{
    return path != NULL && path[0] != '\0' && path[0] != '/';
}

/* The same words lead elsewhere once a handler, or under no isolation its neighbour, has left the
 * folder. */
static bool words_still_hold(const struct culex_home_store *home, const char *chosen)
{
    bool is_by_file = home->url == NULL && is_relative(getenv("CULEX_URL_FILE"));
    const struct culex__store_kind *kind = culex__store_kind_find(chosen);
    bool is_by_path = kind != NULL && kind->is_path && !kind->is_private &&
                      is_relative(chosen + strlen(kind->scheme));
    return (!is_by_file && !is_by_path) || folder_is_home(home);
}

static bool texts_are_equal(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool store_is_home(const struct culex_home_store *home, const char *chosen)
{
    if (home->url != NULL)
        return strcmp(home->url, chosen) == 0;
    if (home->url_file != NULL)
        return texts_are_equal(home->url_file, getenv("CULEX_URL_FILE"));
    return true;
}

static bool prefix_is_home(const struct culex_home_store *home, const char *chosen,
                           const char *prefix)
{
    const culex_client_options told = {.prefix = home->prefix};
    const struct culex__store_kind *kind = culex__store_kind_find(chosen);
    struct culex_store_settings own;
    return kind == NULL || !culex__store_kind_takes(kind, "prefix") ||
           (culex__store_settings_read(chosen, &told, &own, NULL) == CULEX_OK &&
            strcmp(prefix, own.prefix) == 0);
}

culex_status culex__home_store_check(const char *chosen, const char *prefix, culex_error *error)
{
    const struct culex_home_store *home = of_thread != NULL ? of_thread : of_process;
    const struct culex__store_kind *kind = culex__store_kind_find(chosen);
    bool is_lonely = home == of_process && kind != NULL && kind->is_private;
    if (home == NULL || (!is_lonely && store_is_home(home, chosen) &&
                         prefix_is_home(home, chosen, prefix) && words_still_hold(home, chosen)))
        return CULEX_OK;
    return culex__fail(error, CULEX_EURL,
                       "a client without a URL would not reach the store of this handler's worker "
                       "here: use culex_run_client(run) in the handler's own process, or name the "
                       "store that you mean");
}
