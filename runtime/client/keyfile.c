#include "client/keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/secret_name.h"
#include "platform/pages.h"
#include "platform/secret_file.h"

enum { FILE_MAX = 64 * 1024 };

static culex_status file_check(const char *path, const struct stat *file, culex_error *error)
{
    culex_status status = culex__secret_file_check("file of keys", path, file, CULEX_EUSAGE, error);
    if (status == CULEX_OK && file->st_size > FILE_MAX)
        return culex__fail(error, CULEX_EUSAGE, "file of keys %s is larger than %d bytes", path,
                           FILE_MAX);
    return status;
}

static culex_status fail_errno(const char *path, culex_error *error)
{
    return culex__fail(error, CULEX_EUSAGE, "file of keys %s: %s", path, strerror(errno));
}

static culex_status text_load(const char *path, int fd, char *text, size_t *ret_len,
                              culex_error *error)
{
    struct stat file;
    if (fstat(fd, &file) < 0)
        return fail_errno(path, error);
    culex_status status = file_check(path, &file, error);
    if (status != CULEX_OK)
        return status;
    for (*ret_len = 0; *ret_len < FILE_MAX;) {
        ssize_t got = read(fd, text + *ret_len, FILE_MAX - *ret_len);
        if (got < 0)
            return fail_errno(path, error);
        if (got == 0)
            break;
        *ret_len += (size_t)got;
    }
    return CULEX_OK;
}

void culex__keys_free(struct culex_keys *keys)
{
    if (keys == NULL)
        return;
    explicit_bzero(keys, sizeof *keys);
    culex__pages_free(keys, sizeof *keys);
}

static culex_status file_read(const char *path, int fd, struct culex_keys *keys, culex_error *error)
{
    size_t len = 0;
    char *text = malloc(FILE_MAX);
    if (text == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for the keys");
    culex_status status = text_load(path, fd, text, &len, error);
    if (status == CULEX_OK) {
        status = culex__keys_read(text, len, keys, error);
        if (status != CULEX_OK)
            culex__error_context(error, "file of keys %s", path);
    }
    explicit_bzero(text, FILE_MAX);
    free(text);
    return status;
}

/* Before the name goes into any other text. */
static culex_status name_check(const char *path, culex_error *error)
{
    if (path[0] == '\0')
        return culex__fail(error, CULEX_EUSAGE,
                           "the name of the file of keys is empty: name one, or unset CULEX_KEYS");
    if (culex__name_is_secret(path))
        return culex__fail(error, CULEX_EUSAGE,
                           "what is given as the file of keys looks like a key or a URL, and is "
                           "not shown: name the file that holds the keys (with ./ in front where "
                           "its name looks so)");
    return CULEX_OK;
}

culex_status culex__keyfile_read(const char *path, struct culex_keys **ret_keys, culex_error *error)
{
    *ret_keys = NULL;
    if (path == NULL)
        path = getenv("CULEX_KEYS");
    if (path == NULL)
        return CULEX_OK;
    culex_status status = name_check(path, error);
    if (status != CULEX_OK)
        return status;
    struct culex_keys *keys = culex__pages_hide(sizeof *keys);
    if (keys == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for the keys");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    status = fd < 0 ? fail_errno(path, error) : file_read(path, fd, keys, error);
    if (fd >= 0)
        close(fd);
    if (status == CULEX_OK)
        *ret_keys = keys;
    else
        culex__keys_free(keys);
    return status;
}
