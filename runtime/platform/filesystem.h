/* platform/filesystem.h - what kind of file system a file lies on, and whether other
 * machines write it too. */
#ifndef CULEX_PLATFORM_FILESYSTEM_H
#define CULEX_PLATFORM_FILESYSTEM_H

#include <stdbool.h>
#include <stdint.h>

enum { CULEX_FILESYSTEM_NAME_SIZE = 64 };

struct culex_filesystem {
    bool is_network; /* no memory is shared between its users */
    bool is_fuse;
    char name[CULEX_FILESYSTEM_NAME_SIZE]; /* for people */
};

/* False, with errno set, when the folder cannot be asked. */
bool culex__filesystem_read(const char *folder, struct culex_filesystem *ret_system);
/* By statfs's f_type. */
bool culex__filesystem_is_network(long magic);
/* By a type as in mountinfo, "fuse.sshfs". */
bool culex__filesystem_is_network_fuse(const char *type);
/* The type of what is mounted as `device` (st_dev), by a file like /proc/self/mountinfo. */
bool culex__filesystem_of_device(const char *mountinfo, uint64_t device,
                                 char ret_type[CULEX_FILESYSTEM_NAME_SIZE]);

#endif
