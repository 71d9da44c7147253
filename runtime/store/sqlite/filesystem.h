/* store/sqlite/filesystem.h - what kind of file system a store lies on. */
#ifndef CULEX_STORE_SQLITE_FILESYSTEM_H
#define CULEX_STORE_SQLITE_FILESYSTEM_H

#include <stdbool.h>
#include <stdint.h>

enum { CULEX__SQLITE_TYPE_SIZE = 64 };

struct culex_sqlite_filesystem {
    bool is_network; /* no memory is shared between its users */
    bool is_fuse;
    char name[CULEX__SQLITE_TYPE_SIZE]; /* for people */
};

/* False, with errno set, when the folder cannot be asked. */
bool culex__sqlite_filesystem_read(const char *folder, struct culex_sqlite_filesystem *ret_system);
/* By statfs's f_type. */
bool culex__sqlite_is_network(long magic);
/* By a type as in mountinfo, "fuse.sshfs". */
bool culex__sqlite_is_network_fuse(const char *type);
/* The type of what is mounted as `device` (st_dev), by a file like /proc/self/mountinfo. */
bool culex__sqlite_mount_type(const char *mountinfo, uint64_t device,
                              char ret_type[CULEX__SQLITE_TYPE_SIZE]);

#endif
