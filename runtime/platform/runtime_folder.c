#include "platform/runtime_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/filesystem.h"

/* Where others may write, they could put a link of this name to a folder of ours. */
static const char *refusal_of(const char *path)
{
    struct stat info;
    struct culex_filesystem system;
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return strerror(errno);
    if (lstat(path, &info) < 0)
        return strerror(errno);
    if (!S_ISDIR(info.st_mode))
        return "it is no folder";
    if (info.st_uid != geteuid())
        return "it belongs to another user";
    if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return "others may enter it: its mode should be 0700";
    if (!culex__filesystem_read(path, &system))
        return strerror(errno);
    if (system.is_network)
        return "it lies on a network";
    return access(path, W_OK | X_OK) == 0 ? NULL : strerror(errno);
}

/* Candidate `at`; false behind the last, "" for one that does not exist here. */
static bool candidate(int at, char ret_path[CULEX_RUNTIME_FOLDER_SIZE])
{
    const char *given = getenv("XDG_RUNTIME_DIR");
    long user = (long)geteuid();
    int len = 0;
    ret_path[0] = '\0';
    if (at == 0 && given != NULL && given[0] == '/')
        len = snprintf(ret_path, CULEX_RUNTIME_FOLDER_SIZE, "%s/culex", given);
    else if (at == 1)
        snprintf(ret_path, CULEX_RUNTIME_FOLDER_SIZE, "/run/user/%ld/culex", user);
    else if (at == 2 && user == 0)
        snprintf(ret_path, CULEX_RUNTIME_FOLDER_SIZE, "/run/culex");
    else if (at == 3)
        snprintf(ret_path, CULEX_RUNTIME_FOLDER_SIZE, "/tmp/culex-%ld", user);
    if (len >= CULEX_RUNTIME_FOLDER_SIZE)
        ret_path[0] = '\0';
    return at <= 3;
}

bool culex__runtime_folder_find(char ret_path[CULEX_RUNTIME_FOLDER_SIZE],
                                char ret_why[CULEX_RUNTIME_FOLDER_WHY_SIZE])
{
    strcpy(ret_why, "there is none");
    for (int i = 0; candidate(i, ret_path); i++) {
        const char *refusal = ret_path[0] != '\0' ? refusal_of(ret_path) : "";
        if (refusal == NULL)
            return true;
        if (ret_path[0] != '\0')
            snprintf(ret_why, CULEX_RUNTIME_FOLDER_WHY_SIZE, "%s: %s", ret_path, refusal);
    }
    return false;
}
