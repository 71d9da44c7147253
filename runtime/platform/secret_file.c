#include "platform/secret_file.h"

#include <stdbool.h>
#include <unistd.h>

#include "base/error.h"

enum { GROUPS_MAX = 1024 };

/* Root's own group has nobody that could not read the file anyway. */
static bool is_group_of_process(gid_t group)
{
    gid_t groups[GROUPS_MAX];
    int count = getgroups(GROUPS_MAX, groups);
    bool is_ours = group == 0 || group == getegid();
    for (int i = 0; i < count && !is_ours; i++)
        is_ours = groups[i] == group;
    return is_ours;
}

static bool is_private(const struct stat *file)
{
    return file->st_uid == geteuid() && (file->st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

/* To another user than root, whose own files are private or not. */
static bool is_lent_by_root(const struct stat *file)
{
    return geteuid() != 0 && file->st_uid == 0 &&
           (file->st_mode & (S_IWGRP | S_IXGRP | S_IRWXO)) == 0 &&
           is_group_of_process(file->st_gid);
}

culex_status culex__secret_file_check(const char *what, const char *path, const struct stat *file,
                                      culex_status refusal, culex_error *error)
{
    unsigned mode = (unsigned)file->st_mode & 07777;
    if (!S_ISREG(file->st_mode))
        return culex__fail(error, refusal, "%s %s is not a regular file", what, path);
    if (is_private(file) || is_lent_by_root(file))
        return CULEX_OK;
    if (file->st_uid == geteuid())
        return culex__fail(error, refusal,
                           "%s %s has mode %04o, which lets others at it: chmod 600 %s", what, path,
                           mode, path);
    if (file->st_uid == 0)
        return culex__fail(error, refusal,
                           "%s %s is root's, of group %ld with mode %04o, which lets others at it: "
                           "give it a group of this process, and mode 0440",
                           what, path, (long)file->st_gid, mode);
    return culex__fail(error, refusal, "%s %s belongs to user %ld, this process runs as user %ld",
                       what, path, (long)file->st_uid, (long)geteuid());
}
