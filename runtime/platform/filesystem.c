/* WAL needs memory shared by all users of a file, and locks that hold: network file systems have no
 * such memory. FUSE is one number for all kinds, local (overlay of a rootless container) and remote
 * (sshfs); there the name in /proc/self/mountinfo tells. */
#include "platform/filesystem.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

enum { FUSE = 0x65735546 };

static const struct kind {
    unsigned long magic;
    bool is_network;
    const char *name;
} kinds[] = {
    {0x6969, true, "NFS"},        {0x517b, true, "SMB"},        {0xff534d42, true, "CIFS"},
    {0xfe534d42, true, "SMB2"},   {0x00c36400, true, "Ceph"},   {0x01021997, true, "9P"},
    {0x5346414f, true, "AFS"},    {0x6b414653, true, "AFS"},    {0x73757245, true, "Coda"},
    {0x564c, true, "NCP"},        {0x0bd00bd0, true, "Lustre"}, {0x01161970, true, "GFS2"},
    {0x7461636f, true, "OCFS2"},  {0x19830326, true, "BeeGFS"}, {0x20030528, true, "OrangeFS"},
    {FUSE, false, "FUSE"},        {0xef53, false, "ext4"},      {0x58465342, false, "XFS"},
    {0x9123683e, false, "Btrfs"}, {0x2fc12fc1, false, "ZFS"},   {0xf2f52010, false, "F2FS"},
    {0x01021994, false, "tmpfs"}, {0x858458f6, false, "ramfs"}, {0x794c7630, false, "overlayfs"},
};

static const char *const fuse_networks[] = {
    "sshfs",     "s3fs",      "gcsfuse",  "rclone",     "glusterfs",    "ceph",
    "ceph-fuse", "curlftpfs", "davfs",    "davfs2",     "juicefs",      "mount-s3",
    "blobfuse",  "blobfuse2", "goofys",   "geesefs",    "moosefs",      "mfs",
    "seaweedfs", "smbnetfs",  "fusesmb",  "gvfsd-fuse", "nfs",          "fuse-nfs",
    "hdfs",      "fuse_dfs",  "grpcfuse", "osxfs",      "afp",          "httpfs",
    "lizardfs",  "saunafs",   "beegfs",   "alluxio",    "alluxio-fuse", "mountpoint-s3",
};

bool culex__filesystem_is_network(long magic)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (((unsigned long)magic & 0xffffffff) == kinds[i].magic)
            return kinds[i].is_network;
    }
    return false;
}

bool culex__filesystem_is_network_fuse(const char *type)
{
    if (strncmp(type, "fuse.", 5) != 0)
        return false;
    for (size_t i = 0; i < sizeof fuse_networks / sizeof fuse_networks[0]; i++) {
        if (strcmp(type + 5, fuse_networks[i]) == 0)
            return true;
    }
    return false;
}

/* A line is: id, parent, major:minor, root, mount point, options, any number of fields, "-", type,
 * and more. */
static bool line_read(const char *line, unsigned major_wanted, unsigned minor_wanted,
                      char ret_type[CULEX_FILESYSTEM_NAME_SIZE])
{
    unsigned of_major, of_minor;
    const char *type = strstr(line, " - ");
    if (type == NULL || sscanf(line, "%*u %*u %u:%u", &of_major, &of_minor) != 2 ||
        of_major != major_wanted || of_minor != minor_wanted)
        return false;
    type += 3;
    snprintf(ret_type, CULEX_FILESYSTEM_NAME_SIZE, "%.*s", (int)strcspn(type, " \n"), type);
    return true;
}

bool culex__filesystem_of_device(const char *mountinfo, uint64_t device,
                                 char ret_type[CULEX_FILESYSTEM_NAME_SIZE])
{
    char line[4096];
    bool is_found = false;
    FILE *file = fopen(mountinfo, "re");
    while (file != NULL && !is_found && fgets(line, sizeof line, file) != NULL)
        is_found = line_read(line, major(device), minor(device), ret_type);
    if (file != NULL)
        fclose(file);
    return is_found;
}

static void look_closer(const char *folder, struct culex_filesystem *system)
{
    struct stat info;
    if (stat(folder, &info) == 0 &&
        culex__filesystem_of_device("/proc/self/mountinfo", info.st_dev, system->name))
        system->is_network = culex__filesystem_is_network_fuse(system->name);
}

bool culex__filesystem_read(const char *folder, struct culex_filesystem *ret_system)
{
    struct statfs info;
    if (statfs(folder, &info) != 0)
        return false;
    unsigned long magic = (unsigned long)info.f_type & 0xffffffff;
    struct culex_filesystem system = {.is_network = culex__filesystem_is_network((long)magic),
                                      .is_fuse = magic == FUSE};
    snprintf(system.name, sizeof system.name, "type %#lx", magic);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (magic == kinds[i].magic)
            snprintf(system.name, sizeof system.name, "%s", kinds[i].name);
    }
    if (system.is_fuse)
        look_closer(folder, &system);
    *ret_system = system;
    return true;
}
