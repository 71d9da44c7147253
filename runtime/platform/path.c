#include "platform/path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *culex__path_folder(void)
{
    char name[PATH_MAX];
    return getcwd(name, sizeof name) != NULL ? strdup(name) : NULL;
}

static char *join(const char *folder, const char *path)
{
    char *joined = malloc(strlen(folder) + strlen(path) + 2);
    if (joined == NULL)
        return NULL;
    char *end = stpcpy(joined, folder);
    if (end == joined || end[-1] != '/')
        end = stpcpy(end, "/");
    strcpy(end, path);
    return joined;
}

char *culex__path_absolute(const char *path, const char *folder)
{
    if (path[0] == '/')
        return strdup(path);
    if (folder != NULL)
        return join(folder, path);
    char *here = culex__path_folder();
    char *joined = here != NULL ? join(here, path) : NULL;
    free(here);
    return joined;
}
