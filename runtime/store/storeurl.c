#include "store/storeurl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/register.h"
#include "store/url.h"
#include "base/error.h"
#include "base/misspelt.h"
#include "base/secret_name.h"
#include "platform/secret_file.h"

enum { FILE_MAX = CULEX__URL_LEN_MAX + 2 }; /* a newline may end the line */
enum { FORGOTTEN_STARS = 3 };

void culex__store_url_free(char *url)
{
    if (url == NULL)
        return;
    culex__wipe(url, strlen(url));
    free(url);
}

/* --- the parts of a URL ------------------------------------------------------------------ */

/* From behind "//" up to the last '@' before the path; false when there is none. */
static bool user_find(const char *url, const char **ret_begin, const char **ret_end)
{
    const char *slashes = strstr(url, "://");
    const char *at = slashes != NULL ? strrchr(slashes, '@') : NULL;
    if (at == NULL)
        return false;
    *ret_begin = slashes + 3;
    *ret_end = at;
    return true;
}

/* A path may hold any of the marks. */
static bool is_path(const char *url)
{
    const struct culex__store_kind *kind = culex__store_kind_find(url);
    return kind != NULL && kind->is_path && strncmp(url + strlen(kind->scheme), "//", 2) != 0;
}

/* A text that is no URL may hold a password all the same: in "redis:secret@host" it is what stands
 * behind the first colon, in "secret@host" everything. An '@' behind a '?' may belong to a password
 * on either side, so that all the rest is one. */
static const char *user_secret(const char *url, size_t *ret_len)
{
    const char *at = strrchr(url, '@');
    const char *slashes = strstr(url, "://");
    if (at == NULL)
        return NULL;
    const char *begin = slashes != NULL && slashes < at ? slashes + 3 : url;
    const char *colon = memchr(begin, ':', (size_t)(at - begin));
    begin = colon != NULL ? colon + 1 : begin;
    bool is_unclear = memchr(begin, '?', (size_t)(at - begin)) != NULL;
    *ret_len = is_unclear ? strlen(begin) : (size_t)(at - begin);
    return begin;
}

/* A name with an escape in it may mean anything. */
static bool parameter_is_secret(const char *name, size_t len)
{
    return (len == 8 && memcmp(name, "password", 8) == 0) || memchr(name, '%', len) != NULL;
}

static const char *parameter_secret(const char *from, size_t *ret_len)
{
    const char *at = strpbrk(from, "?&");
    while (at != NULL) {
        const char *name = at + 1;
        size_t len = strcspn(name, "=&");
        at = strchr(name, '&');
        if (name[len] != '=' || !parameter_is_secret(name, len))
            continue;
        *ret_len = at != NULL ? (size_t)(at - name) - len - 1 : strlen(name + len + 1);
        return name + len + 1;
    }
    return NULL;
}

/* The first at `from` or behind it; NULL when there is none. */
static const char *secret_find(const char *url, const char *from, size_t *ret_len)
{
    if (is_path(url))
        return NULL;
    const char *secret = user_secret(url, ret_len);
    return secret != NULL && secret >= from ? secret : parameter_secret(from, ret_len);
}

void culex__store_url_mask(const char *url, char *ret_text, size_t size)
{
    size_t at = 0, len;
    const char *from = url;
    for (const char *secret; at < size && (secret = secret_find(url, from, &len)) != NULL;
         from = secret + len)
        at += (size_t)snprintf(ret_text + at, size - at, "%.*s***", (int)(secret - from), from);
    if (at < size)
        snprintf(ret_text + at, size - at, "%s", from);
}

bool culex__store_url_has_password(const char *url)
{
    size_t len;
    if (is_path(url))
        return false;
    const char *secret = user_secret(url, &len);
    return (secret != NULL && secret > url && secret[-1] == ':') ||
           parameter_secret(url, &len) != NULL;
}

static bool char_is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

static size_t password_encode(const char *password, char *ret_text)
{
    size_t len = 0;
    for (; *password != '\0'; password++) {
        if (char_is_plain(*password))
            ret_text[len++] = *password;
        else
            len += (size_t)sprintf(ret_text + len, "%%%02X", (unsigned)(unsigned char)*password);
    }
    ret_text[len] = '\0';
    return len;
}

/* "redis://[USER@]HOST" and the like, with ":PASSWORD@" where it belongs. */
static culex_status password_insert(const char *url, const char *password, char **ret_url,
                                    culex_error *error)
{
    const char *begin = strstr(url, "://") + 3, *end = begin;
    bool has_user = user_find(url, &begin, &end);
    size_t head = (size_t)(end - url);
    char *joined = malloc(strlen(url) + 3 * strlen(password) + 3);
    if (joined == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for the store's URL");
    memcpy(joined, url, head);
    joined[head] = ':';
    size_t len = head + 1 + password_encode(password, joined + head + 1);
    sprintf(joined + len, "@%s", has_user ? end + 1 : end);
    *ret_url = joined;
    return CULEX_OK;
}

/* What culex__environment_forget leaves of a secret. */
static bool is_forgotten(const char *secret)
{
    size_t len = strlen(secret);
    return len > 0 && len <= FORGOTTEN_STARS && strspn(secret, "*") == len;
}

static culex_status fail_forgotten(culex_error *error)
{
    return culex__fail(error, CULEX_EURL,
                       "the store's password was taken out of the environment, as it is for all "
                       "handlers: use culex_run_client(run) in the handler's own process, which "
                       "needs none, or hand the URL to this program in a file (CULEX_URL_FILE)");
}

static culex_status url_complete(const char *url, char **ret_url, culex_error *error)
{
    const char *password = getenv("CULEX_PASSWORD");
    const struct culex__store_kind *kind = culex__store_kind_find(url);
    bool has_host = kind != NULL && !kind->is_path;
    bool lacks_password = has_host && !culex__store_url_has_password(url);
    bool is_apart = lacks_password && password != NULL && password[0] != '\0';
    if (is_forgotten(has_host ? url + strlen(kind->scheme) : url) ||
        (is_apart && is_forgotten(password)))
        return fail_forgotten(error);
    if (is_apart)
        return password_insert(url, password, ret_url, error);
    if (lacks_password && password == NULL &&
        culex__misspelt_check(environ, "CULEX_PASSWORD", "no password is given", CULEX_EURL, error))
        return CULEX_EURL;
    *ret_url = strdup(url);
    return *ret_url != NULL ? CULEX_OK
                            : culex__fail(error, CULEX_ENOMEM, "no memory for the store's URL");
}

bool culex__store_url_takes(const char *url, const char *name)
{
    const struct culex__store_kind *kind = culex__store_kind_find(url);
    return kind != NULL && culex__store_kind_takes(kind, name);
}

/* --- a file ------------------------------------------------------------------------------ */

/* One line, without its newline. */
static culex_status line_check(const char *path, char *text, size_t len, culex_error *error)
{
    while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
        text[--len] = '\0';
    if (len == 0)
        return culex__fail(error, CULEX_EURL, "URL file %s is empty", path);
    if (len > CULEX__URL_LEN_MAX)
        return culex__fail(error, CULEX_EURL, "URL file %s is longer than %d bytes", path,
                           CULEX__URL_LEN_MAX);
    if (strlen(text) != len || strcspn(text, "\r\n") != len)
        return culex__fail(error, CULEX_EURL, "URL file %s must hold one line, the URL", path);
    return CULEX_OK;
}

static culex_status file_load(const char *path, int fd, char *text, culex_error *error)
{
    struct stat file;
    size_t len = 0;
    if (fstat(fd, &file) < 0)
        return culex__fail(error, CULEX_EURL, "URL file %s: %s", path, strerror(errno));
    culex_status status = culex__secret_file_check("URL file", path, &file, CULEX_EURL, error);
    if (status != CULEX_OK)
        return status;
    for (ssize_t got; len < FILE_MAX; len += (size_t)got) {
        got = read(fd, text + len, FILE_MAX - len);
        if (got < 0)
            return culex__fail(error, CULEX_EURL, "URL file %s: %s", path, strerror(errno));
        if (got == 0)
            break;
    }
    text[len] = '\0';
    return line_check(path, text, len, error);
}

/* Not blocking: a path may name a pipe. */
static culex_status file_read(const char *path, char **ret_url, culex_error *error)
{
    char text[FILE_MAX + 1];
    if (culex__name_is_secret(path))
        return culex__fail(error, CULEX_EURL,
                           "what is given as the URL file looks like a URL or a key, and is not "
                           "shown: name the file that holds the URL (with ./ in front where its "
                           "name looks so)");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return culex__fail(error, CULEX_EURL, "URL file %s: %s", path, strerror(errno));
    culex_status status = file_load(path, fd, text, error);
    close(fd);
    if (status == CULEX_OK)
        status = url_complete(text, ret_url, error);
    culex__wipe(text, sizeof text);
    return status;
}

/* --- the choice ---------------------------------------------------------------------------- */

/* Empty is what a script makes of a name that it does not know: the default would be another store
 * than the one that was meant. */
static culex_status variable_read(const char *name, const char **ret_value, culex_error *error)
{
    *ret_value = getenv(name);
    if (*ret_value != NULL && (*ret_value)[0] == '\0')
        return culex__fail(error, CULEX_EURL,
                           "%s is set but empty: unset it, or let it say where the store is", name);
    return CULEX_OK;
}

static culex_status variables_read(const char **ret_url, const char **ret_url_file,
                                   culex_error *error)
{
    culex_status status = variable_read("CULEX_URL", ret_url, error);
    if (status == CULEX_OK)
        status = variable_read("CULEX_URL_FILE", ret_url_file, error);
    if (status == CULEX_OK && *ret_url != NULL && *ret_url_file != NULL)
        return culex__fail(error, CULEX_EUSAGE,
                           "both CULEX_URL and CULEX_URL_FILE are set; unset one");
    return status;
}

/* The default would be another store. */
static culex_status default_check(culex_error *error)
{
    static const char without[] = "no store is named";
    culex_status status = culex__misspelt_check(environ, "CULEX_URL", without, CULEX_EURL, error);
    return status == CULEX_OK
               ? culex__misspelt_check(environ, "CULEX_URL_FILE", without, CULEX_EURL, error)
               : status;
}

culex_status culex__store_url_choose(const char *url, const char *url_file, char **ret_url,
                                     culex_error *error)
{
    culex_status status = CULEX_OK;
    if (url != NULL && url_file != NULL)
        return culex__fail(error, CULEX_EUSAGE, "both a URL and a URL file are given; use one");
    if (url == NULL && url_file == NULL)
        status = variables_read(&url, &url_file, error);
    if (status != CULEX_OK)
        return status;
    if (url_file != NULL && url_file[0] == '\0')
        return culex__fail(error, CULEX_EURL, "the name of the URL file is empty");
    if (url_file != NULL)
        return file_read(url_file, ret_url, error);
    if (url != NULL && url[0] == '\0')
        return culex__fail(error, CULEX_EURL, "the store's URL is empty");
    if (url == NULL && (status = default_check(error)) != CULEX_OK)
        return status;
    return url_complete(url != NULL ? url : "sqlite:culex.db", ret_url, error);
}

/* --- the environment ------------------------------------------------------------------------- *
 *
 * Byte by byte and through volatile pointers: the C library's string functions take whole vector
 * registers of a secret, and the dynamic linker puts those on the stack when it resolves a name,
 * where they would stay. */

enum { SCRUB_SIZE = 64 * 1024 };

/* A word about it: see is_forgotten. */
static void secret_forget(volatile char *secret)
{
    for (int i = 0; i < FORGOTTEN_STARS && *secret != '\0'; i++)
        *secret++ = '*';
    while (*secret != '\0')
        *secret++ = '\0';
}

static bool begins_with(const volatile char *text, const char *word)
{
    for (; *word != '\0'; word++, text++) {
        if (*text != *word)
            return false;
    }
    return true;
}

/* Rather one too many: an '@', or behind '?' a word with an escape or that may be "password". */
static bool may_hold_password(const volatile char *url)
{
    bool is_query = false;
    for (; *url != '\0'; url++) {
        is_query = is_query || *url == '?';
        if (*url == '@' || (is_query && (*url == '%' || begins_with(url, "pass"))))
            return true;
    }
    return false;
}

static volatile char *behind_scheme(volatile char *url)
{
    for (volatile char *at = url; *at != '\0'; at++) {
        if (begins_with(at, "://"))
            return at + 3;
    }
    return url;
}

static bool begins_with_path(const volatile char *url)
{
    const struct culex__store_kind *kind;
    for (size_t i = 0; (kind = culex__store_kind_at(i)) != NULL; i++) {
        if (begins_with(url, kind->scheme))
            return kind->is_path;
    }
    return false;
}

static void url_forget(volatile char *url)
{
    if (!begins_with_path(url) && may_hold_password(url))
        secret_forget(behind_scheme(url));
}

/* Overwrites stack memory in which earlier calls may have left secrets. */
static __attribute__((noinline)) void stack_scrub(void)
{
    char deep[SCRUB_SIZE];
    culex__wipe(deep, sizeof deep);
}

void culex__environment_forget(void)
{
    static const char url[] = "CULEX_URL=", password[] = "CULEX_PASSWORD=";
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        volatile char *text = *entry;
        if (begins_with(text, url))
            url_forget(text + sizeof url - 1);
        if (begins_with(text, password))
            secret_forget(text + sizeof password - 1);
    }
    stack_scrub();
}
