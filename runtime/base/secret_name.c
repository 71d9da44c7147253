#include "base/secret_name.h"

#include <string.h>
#include <strings.h>

enum {
    KEY_LEN = 43, /* of 32 bytes, without the '=' at their end */
    CASE_MIN = 4  /* of 43 letters by chance one key in a million has fewer of a case */
};

#define BLANKS  " \t\r\n"
#define DIGITS  "0123456789"
#define CAPITAL "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define SMALL   "abcdefghijklmnopqrstuvwxyz"
#define HEX     DIGITS "abcdefABCDEF"
#define MARKS   "+/-_"
#define ENDS    BLANKS "=:,;@?&|'\"()[]{}<>" /* between words */

/* --- keys ------------------------------------------------------------------------------------ */

/* How many of `letters` stand behind a letter or digit: words that make a name have few of these.
 */
static size_t inner_count(const char *word, size_t len, const char *letters)
{
    size_t count = 0;
    for (size_t i = 1; i < len; i++)
        count += strchr(letters, word[i]) != NULL && strchr(MARKS, word[i - 1]) == NULL;
    return count;
}

static bool looks_random(const char *word, size_t len)
{
    bool is_mixed =
        inner_count(word, len, CAPITAL) >= CASE_MIN && inner_count(word, len, SMALL) >= CASE_MIN;
    return is_mixed || strspn(word, HEX) >= len;
}

/* An absolute path, which nothing stands before, may well have no other letters; the '=' tells it
 * from a key. That of URLs, which names of files are often in as well, does without. */
static bool is_key(const char *text, const char *word, size_t len)
{
    bool is_plain = strspn(word, CAPITAL SMALL DIGITS "+/") >= len;
    bool is_url = strspn(word, CAPITAL SMALL DIGITS "-_") >= len;
    bool is_path = word == text && word[0] == '/';
    if (len < KEY_LEN || (!is_plain && !is_url))
        return false;
    return (is_plain && word[len] == '=') || (!is_path && looks_random(word, len));
}

static bool has_key(const char *text)
{
    const char *word = text + strspn(text, ENDS);
    for (size_t len; *word != '\0'; word += len + strspn(word + len, ENDS)) {
        len = strcspn(word, ENDS);
        if (is_key(text, word, len))
            return true;
    }
    return false;
}

/* --- URLs ------------------------------------------------------------------------------------ */

/* A user, or a parameter, which may be the password. */
static bool has_whole_url(const char *text)
{
    const char *slashes = strstr(text, "://");
    return slashes != NULL && strpbrk(slashes, "@?") != NULL;
}

/* A path may hold any of the marks. */
static bool begins_as_path(const char *text)
{
    return text[0] == '/' || strncmp(text, "./", 2) == 0 || strncmp(text, "../", 3) == 0;
}

/* "3@8" and "3@" belong to a queue, its weight and how many of its runs there may be at a time. */
static bool is_password_at(const char *password, const char *at)
{
    size_t host = strcspn(at + 1, BLANKS ",/");
    if (host == 0)
        return strspn(password, DIGITS) < (size_t)(at - password);
    return strspn(at + 1, DIGITS) < host;
}

/* "user:password@host", also without the user. */
static bool has_login(const char *text)
{
    const char *word = text, *colon = NULL;
    for (; *text != '\0'; text++) {
        if (strchr(BLANKS, *text) != NULL) {
            word = text + 1;
            colon = NULL;
        } else if (*text == ':' && colon == NULL) {
            colon = text;
        } else if (*text == '@' && colon != NULL && !begins_as_path(word) &&
                   is_password_at(colon + 1, text)) {
            return true;
        }
    }
    return false;
}

/* Where the host belongs, behind "redis:": a port, as of a host of that name, or nothing is not a
 * password. What has slashes is a whole URL. */
static bool is_password(const char *text)
{
    size_t port = strspn(text, DIGITS);
    bool is_port = port > 0 && strchr(ENDS "/", text[port]) != NULL;
    return *text != '\0' && strchr(BLANKS, *text) == NULL && !is_port &&
           strncmp(text, "//", 2) != 0;
}

static bool has_url_without_slashes(const char *text)
{
    static const char *const schemes[] = {"redis:", "rediss:", "redis+unix:"};
    for (; *text != '\0'; text += strcspn(text, ENDS "-"), text += strspn(text, ENDS "-")) {
        for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
            size_t len = strlen(schemes[i]);
            if (strncasecmp(text, schemes[i], len) == 0 && is_password(text + len))
                return true;
        }
    }
    return false;
}

/* --- all of them ----------------------------------------------------------------------------- */

bool culex__text_is_secret(const char *text)
{
    return has_key(text) || has_whole_url(text) || has_login(text) || has_url_without_slashes(text);
}

const char *culex__text_shown(const char *text)
{
    return culex__text_is_secret(text) ? CULEX_SECRET_UNSHOWN : text;
}

const char *culex__head_shown(const char *head, const char *whole)
{
    bool is_name = head[strspn(head, CAPITAL SMALL DIGITS "-_.")] == '\0';
    const char *text = is_name ? head : whole;
    text += strncmp(text, "--", 2) == 0 ? 2 : 0;
    return culex__text_is_secret(text) ? CULEX_SECRET_UNSHOWN : head;
}

bool culex__name_is_secret(const char *name)
{
    const char *first = strpbrk(name, BLANKS "/");
    bool begins_as_line = first != NULL && *first != '/';
    return begins_as_line || strpbrk(name, "\r\n") != NULL || strstr(name, "://") != NULL ||
           culex__text_is_secret(name);
}
