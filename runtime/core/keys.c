#include "core/keys.h"

#include <string.h>

#include "base/error.h"
#include "base/sha256.h"
#include "core/base64.h"

/* A text of one key, and room for what parses it. */
enum { KEY_TEXT_LEN = 44, KEY_ROOM = KEY_TEXT_LEN / 4 * 3 };

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static void trim(const char **text, size_t *len)
{
    for (; *len > 0 && is_blank(**text); --*len)
        ++*text;
    while (*len > 0 && is_blank((*text)[*len - 1]))
        --*len;
}

bool culex__key_id_is_good(const char *id, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool is_letter = (id[i] >= 'a' && id[i] <= 'z') || (id[i] >= 'A' && id[i] <= 'Z');
        bool is_digit = id[i] >= '0' && id[i] <= '9';
        if (!is_letter && !is_digit && id[i] != '_' && id[i] != '.' && id[i] != '-')
            return false;
    }
    return len > 0 && len <= CULEX_KEY_ID_MAX;
}

const struct culex_key *culex__keys_find(const struct culex_keys *keys, const char *id, size_t len)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (strlen(keys->of[i].id) == len && memcmp(keys->of[i].id, id, len) == 0)
            return &keys->of[i];
    }
    return NULL;
}

void culex__key_mark(struct culex_key *key)
{
    static const char label[] = "culex key";
    struct culex_sha256 hash;
    unsigned char digest[CULEX_SHA256_BYTES];
    culex__sha256_begin(&hash);
    culex__sha256_add(&hash, label, sizeof label);
    culex__sha256_add(&hash, key->bytes, sizeof key->bytes);
    culex__sha256_end(&hash, digest);
    memcpy(key->mark, digest, sizeof key->mark);
    explicit_bzero(&hash, sizeof hash);
    explicit_bzero(digest, sizeof digest);
}

/* What a script makes of a key that it does not know. */
static bool key_is_zero(const struct culex_key *key)
{
    static const unsigned char zero[sizeof key->bytes];
    return memcmp(key->bytes, zero, sizeof zero) == 0;
}

static bool key_parse(const char *text, size_t len, struct culex_key *ret_key)
{
    uint8_t room[KEY_ROOM];
    size_t size = 0;
    bool is_good = len == KEY_TEXT_LEN && culex__base64_parse(text, len, room, &size) &&
                   size == sizeof ret_key->bytes;
    if (is_good)
        memcpy(ret_key->bytes, room, sizeof ret_key->bytes);
    explicit_bzero(room, sizeof room);
    return is_good;
}

/* What is wrong with the line, NULL for nothing. */
static const char *line_read(const char *line, size_t len, struct culex_keys *keys)
{
    size_t id_len = 0;
    while (id_len < len && !is_blank(line[id_len]))
        id_len++;
    const char *text = line + id_len;
    size_t text_len = len - id_len;
    trim(&text, &text_len);
    if (!culex__key_id_is_good(line, id_len))
        return "an id is 1 to 32 letters, digits, '_', '.' and '-'";
    if (culex__keys_find(keys, line, id_len) != NULL)
        return "an id that an earlier line has";
    if (keys->count == CULEX_KEYS_MAX)
        return "more than 64 keys";
    struct culex_key *key = &keys->of[keys->count];
    *key = (struct culex_key){.id = ""};
    if (!key_parse(text, text_len, key))
        return "behind the id stands no key of 32 bytes in base64";
    if (key_is_zero(key))
        return "all 32 bytes of the key are 0: make one of random bytes";
    memcpy(key->id, line, id_len);
    culex__key_mark(key);
    keys->count++;
    return NULL;
}

culex_status culex__keys_read(const char *text, size_t len, struct culex_keys *ret_keys,
                              culex_error *error)
{
    size_t number = 0;
    *ret_keys = (struct culex_keys){0};
    for (const char *end = text + len; text < end;) {
        const char *line = text;
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t line_len = (size_t)((newline != NULL ? newline : end) - line);
        text = newline != NULL ? newline + 1 : end;
        number++;
        trim(&line, &line_len);
        if (line_len == 0 || line[0] == '#')
            continue;
        const char *wrong = line_read(line, line_len, ret_keys);
        if (wrong != NULL)
            return culex__fail(error, CULEX_EUSAGE, "line %zu: %s", number, wrong);
    }
    if (ret_keys->count > 0)
        return CULEX_OK;
    return culex__fail(error, CULEX_EUSAGE, "it has no key");
}
