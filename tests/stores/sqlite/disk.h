/* sqlite/disk.h - small disks of a test's own, in a mount namespace that ends with the process. */
#ifndef CULEX_TESTS_SQLITE_DISK_H
#define CULEX_TESTS_SQLITE_DISK_H

#include <stdbool.h>

struct fixture;

enum disk_kind { DISK_TMPFS, DISK_EXT4 };

/* Enters the namespace. False, with errno set, where nothing may be mounted. */
bool disk_begin(void);

/* Mounts a disk of that size at the fixture's folder. False where that is not possible: ext4 takes
 * root, mkfs.ext4 and a loop device. */
bool disk_mount(const struct fixture *fixture, enum disk_kind kind, int mib);
void disk_unmount(const struct fixture *fixture);

/* A file that takes all that is left, what it gives back, and its end. */
void disk_fill(const struct fixture *fixture);
void disk_free(const struct fixture *fixture, int bytes);
void disk_relieve(const struct fixture *fixture);

#endif
