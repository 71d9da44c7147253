#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"

/* --- the namespace ----------------------------------------------------------------------- */

static void write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    if (fd >= 0 && write(fd, text, strlen(text)) < 0)
        perror(path);
    if (fd >= 0)
        close(fd);
}

/* As root, or as anybody where the kernel lets anybody have a namespace. */
static bool enter_namespace(void)
{
    char map[64];
    uid_t user = getuid();
    gid_t group = getgid();
    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            return false;
        snprintf(map, sizeof map, "0 %u 1", user);
        write_text("/proc/self/uid_map", map);
        write_text("/proc/self/setgroups", "deny");
        snprintf(map, sizeof map, "0 %u 1", group);
        write_text("/proc/self/gid_map", map);
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* A namespace is not always worth a mount: containers may forbid it all the same. */
static bool try_mount(void)
{
    char folder[] = "/tmp/culex-sqlite-XXXXXX";
    assert_non_null(mkdtemp(folder));
    bool is_mounted = mount("tmpfs", folder, "tmpfs", 0, "size=1m") == 0;
    int cause = errno;
    if (is_mounted)
        umount2(folder, MNT_DETACH);
    rmdir(folder);
    errno = cause;
    return is_mounted;
}

bool disk_begin(void)
{
    return enter_namespace() && try_mount();
}

/* --- disks --------------------------------------------------------------------------------- */

/* With blocks of 4 KiB: a full disk of smaller ones ends a program that uses SQLite's log by
 * SIGBUS, as SQLite sees to one block only in each page of the memory it shares.
 * The loop device keeps the image, whose name is gone at once, until it is unmounted. */
static bool mount_ext4(const char *folder, int mib)
{
    char command[512];
    snprintf(command, sizeof command,
             "PATH=$PATH:/usr/sbin:/sbin; image=%s.ext4;"
             " { truncate -s %dM $image && mkfs.ext4 -q -F -m 0 -b 4096 $image &&"
             " mount -o loop $image %s; } >/dev/null 2>&1; code=$?; rm -f $image; exit $code",
             folder, mib, folder);
    return system(command) == 0;
}

bool disk_mount(const struct fixture *fixture, enum disk_kind kind, int mib)
{
    char size[32];
    if (kind == DISK_EXT4)
        return mount_ext4(fixture->folder, mib);
    snprintf(size, sizeof size, "size=%dm", mib);
    return mount("tmpfs", fixture->folder, "tmpfs", 0, size) == 0;
}

void disk_unmount(const struct fixture *fixture)
{
    umount2(fixture->folder, MNT_DETACH);
}

static void filler_path(const struct fixture *fixture, char path[128])
{
    snprintf(path, 128, "%s/filler", fixture->folder);
}

void disk_fill(const struct fixture *fixture)
{
    static char bytes[65536];
    char path[128];
    filler_path(fixture, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_true(fd >= 0);
    for (size_t size = sizeof bytes; size >= 512; size /= 2) {
        while (write(fd, bytes, size) > 0)
            ;
        assert_int_equal(errno, ENOSPC);
    }
    close(fd);
}

void disk_free(const struct fixture *fixture, int bytes)
{
    char path[128];
    struct stat info;
    filler_path(fixture, path);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(truncate(path, info.st_size - bytes), 0);
}

void disk_relieve(const struct fixture *fixture)
{
    char path[128];
    filler_path(fixture, path);
    assert_int_equal(unlink(path), 0);
}
