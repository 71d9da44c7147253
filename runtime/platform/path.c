#include "platform/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *join(const char *folder, const char *path)
{
    const char *slash = strcmp(folder, "/") == 0 ? "" : "/";
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
