#include "platform/zone_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/zone_name.h"

/* A file of version 1 with one type of local time, which is UTC. */
static const char utc_file[] = "TZif\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                               "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\4"
                               "\0\0\0\0\0\0UTC";

static const char *database(void)
{
    const char *folder = getenv("TZDIR");
    return folder == NULL || *folder == '\0' ? "/usr/share/zoneinfo" : folder;
}

/* Into memory of its own, up to one byte more than there may be. */
static culex_status bytes_read(int fd, uint8_t **ret_bytes, size_t *ret_len)
{
    size_t len = 0;
    uint8_t *bytes = malloc(CULEX_ZONE_FILE_MAX + 1);
    ssize_t count = bytes == NULL ? -1 : 1;
    while (count > 0 && len <= CULEX_ZONE_FILE_MAX) {
        count = read(fd, bytes + len, CULEX_ZONE_FILE_MAX + 1 - len);
        len += count > 0 ? (size_t)count : 0;
    }
    *ret_bytes = bytes;
    *ret_len = len;
    if (bytes == NULL)
        return CULEX_ENOMEM;
    if (count < 0)
        return CULEX_EUNSUPPORTED;
    return len > CULEX_ZONE_FILE_MAX ? CULEX_ECORRUPT : CULEX_OK;
}

static culex_status file_read(int fd, const char *name, uint8_t **ret_bytes, size_t *ret_len,
                              culex_error *error)
{
    struct stat kind;
    if (fstat(fd, &kind) < 0 || !S_ISREG(kind.st_mode))
        return culex__fail(error, CULEX_ENOTFOUND, "time zone '%s': this is no file of %s", name,
                           database());
    uint8_t *bytes;
    culex_status status = bytes_read(fd, &bytes, ret_len);
    if (status == CULEX_OK) {
        *ret_bytes = bytes;
        return CULEX_OK;
    }
    const char *cause = status == CULEX_ENOMEM     ? "out of memory"
                        : status == CULEX_ECORRUPT ? "the file is larger than any zone's"
                                                   : strerror(errno);
    free(bytes);
    return culex__fail(error, status, "time zone '%s' of %s: %s", name, database(), cause);
}

static culex_status file_open(const char *name, int *ret_fd, culex_error *error)
{
    int folder = open(database(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return culex__fail(
            error, CULEX_EUNSUPPORTED,
            "time zone '%s': this machine has no tz database at %s (%s); install the "
            "package tzdata, or set TZDIR",
            name, database(), strerror(errno));
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int cause = errno;
    close(folder);
    *ret_fd = fd;
    if (fd >= 0)
        return CULEX_OK;
    if (cause == ENOENT || cause == ENOTDIR)
        return culex__fail(error, CULEX_ENOTFOUND,
                           "time zone '%s': the tz database of this machine (%s) has none of this "
                           "name",
                           name, database());
    return culex__fail(error, CULEX_EUNSUPPORTED, "time zone '%s' of %s: %s", name, database(),
                       strerror(cause));
}

static culex_status utc_copy(uint8_t **ret_bytes, size_t *ret_len, culex_error *error)
{
    const size_t len = sizeof utc_file;
    uint8_t *bytes = malloc(len);
    if (bytes == NULL)
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    *ret_bytes = memcpy(bytes, utc_file, len);
    *ret_len = len;
    return CULEX_OK;
}

culex_status culex__zone_file_read(const char *name, uint8_t **ret_bytes, size_t *ret_len,
                                   culex_error *error)
{
    if (!culex__zone_name_is_good(name, strlen(name)))
        return culex__fail(error, CULEX_EINVAL,
                           "'%.100s' is not the name of a time zone, such as \"Europe/Rome\" or "
                           "\"UTC\"",
                           name);
    if (strcmp(name, "UTC") == 0)
        return utc_copy(ret_bytes, ret_len, error);
    int fd = -1;
    culex_status status = file_open(name, &fd, error);
    if (status != CULEX_OK)
        return status;
    status = file_read(fd, name, ret_bytes, ret_len, error);
    close(fd);
    return status;
}
