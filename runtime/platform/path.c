#include "platform/path.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *join(const char *folder, const char *path)
{
    const char *slash = strcmp(folder, "/") == 0 ? "" : "/";
    assert(folder[0] != '\0');
    char *joined = malloc(strlen(folder) + strlen(path) + 2);
    if (joined != NULL)
        strcpy(stpcpy(stpcpy(joined, folder), slash), path);
    return joined;
}

char *culex__path_absolute(const char *path, const char *folder)
{
    char here[CULEX__PATH_SIZE];
    if (path[0] == '/')
        return strdup(path);
    if (folder == NULL)
        folder = getcwd(here, sizeof here);
    if (folder != NULL && folder[0] != '\0')
        return join(folder, path);
    if (folder != NULL)
        errno = ENOENT;
    return NULL;
}

char *culex__path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* What the link `path` says, as seen from where it lies. NULL, with EINVAL or ENOENT when there is
 * no link of that name. */
static char *link_read(const char *path)
{
    char target[CULEX__PATH_SIZE];
    ssize_t len = readlink(path, target, sizeof target - 1);
    if (len < 0)
        return NULL;
    target[len] = '\0';
    char *folder = culex__path_folder(path);
    char *next = folder != NULL ? culex__path_absolute(target, folder) : NULL;
    free(folder);
    return next;
}

char *culex__path_follow(const char *path)
{
    enum { LINKS_MAX = 40 }; /* as many as the kernel follows */
    char *at = strdup(path);
    for (int links = 0; at != NULL && links <= LINKS_MAX; links++) {
        char *next = link_read(at);
        if (next == NULL && errno != ENOMEM)
            return at;
        free(at);
        at = next;
    }
    if (at != NULL)
        errno = ELOOP;
    free(at);
    return NULL;
}
