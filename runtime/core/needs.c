#include "core/needs.h"

#include <stdio.h>
#include <string.h>

bool culex__need_name_is_valid(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = name[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'))
            return false;
    }
    return len >= 1 && len <= CULEX_NEED_NAME_MAX;
}

/* Takes a number from the front of *text; false when there is none, or it is greater than `most`.
 */
static bool units_take(const char **text, uint32_t most, uint32_t *ret_units)
{
    uint64_t units = 0;
    const char *from = *text;
    for (; **text >= '0' && **text <= '9' && units <= most; ++*text)
        units = units * 10 + (uint64_t)(**text - '0');
    *ret_units = (uint32_t)units;
    return *text > from && units <= most && (*from != '0' || *text == from + 1);
}

/* The name comes behind those that are there. */
static bool is_next(const struct culex_needs *needs, const char *name, size_t len)
{
    if (needs->count == 0)
        return true;
    const char *last = needs->of[needs->count - 1].name;
    int order = strncmp(last, name, len);
    return order < 0 || (order == 0 && strlen(last) < len);
}

static bool row_take(const char **text, uint32_t most, struct culex_needs *needs)
{
    const char *name = *text;
    size_t len = strcspn(name, ":");
    uint32_t units = 0;
    if (name[len] != ':' || !culex__need_name_is_valid(name, len) || !is_next(needs, name, len))
        return false;
    *text += len + 1;
    return units_take(text, most, &units) && culex__needs_add(needs, name, len, units);
}

static bool rows_read(const char *text, size_t count_max, uint32_t most, struct culex_needs *needs)
{
    needs->count = 0;
    while (needs->count < count_max && row_take(&text, most, needs)) {
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
    return false;
}

bool culex__needs_read(const char *text, struct culex_needs *ret_needs)
{
    if (!rows_read(text, CULEX_NEEDS_MAX, CULEX_NEED_UNITS_MAX, ret_needs))
        return false;
    for (size_t i = 0; i < ret_needs->count; i++) {
        if (ret_needs->of[i].units == 0)
            return false;
    }
    return true;
}

bool culex__offers_read(const char *text, struct culex_needs *ret_offers)
{
    ret_offers->count = 0;
    return text == NULL || text[0] == '\0' ||
           rows_read(text, CULEX_OFFERS_MAX, CULEX_OFFER_UNITS_MAX, ret_offers);
}

const char *culex__needs_of_limit(const char *name)
{
    size_t len = sizeof CULEX__NEEDS_WORD - 1;
    return strncmp(name, CULEX__NEEDS_WORD, len) == 0 ? name + len : NULL;
}

const char *culex__needs_among(const char *limits, size_t len, size_t *ret_len)
{
    size_t word = sizeof CULEX__NEEDS_WORD - 1, at = len;
    while (at > 0 && limits[at - 1] != ';')
        at--;
    if (len - at <= word || memcmp(limits + at, CULEX__NEEDS_WORD, word) != 0)
        return NULL;
    const char *needs = limits + at + word, *end = memchr(needs, '=', len - at - word);
    *ret_len = end != NULL ? (size_t)(end - needs) : len - at - word;
    return needs;
}

static int row_compare(const struct culex_need_row *row, const char *name, size_t len)
{
    int order = strncmp(row->name, name, len);
    return order != 0 ? order : row->name[len] != '\0';
}

bool culex__needs_add(struct culex_needs *needs, const char *name, size_t len, uint32_t units)
{
    size_t at = 0;
    while (at < needs->count && row_compare(&needs->of[at], name, len) < 0)
        at++;
    bool is_there = at < needs->count && row_compare(&needs->of[at], name, len) == 0;
    if (needs->count == CULEX_OFFERS_MAX || len > CULEX_NEED_NAME_MAX || is_there)
        return false;
    memmove(&needs->of[at + 1], &needs->of[at], (needs->count - at) * sizeof needs->of[0]);
    needs->of[at].units = units;
    memcpy(needs->of[at].name, name, len);
    needs->of[at].name[len] = '\0';
    needs->count++;
    return true;
}

void culex__needs_write(const struct culex_needs *needs, char ret_text[CULEX__NEEDS_SIZE])
{
    size_t len = 0;
    ret_text[0] = '\0';
    for (size_t i = 0; i < needs->count; i++)
        len += (size_t)snprintf(ret_text + len, CULEX__NEEDS_SIZE - len, "%s%s:%u",
                                i > 0 ? "," : "", needs->of[i].name, (unsigned)needs->of[i].units);
}

/* Where the row of that name is; offers->count: there is none. */
static size_t row_find(const struct culex_needs *offers, const char *name)
{
    size_t at = 0;
    while (at < offers->count && strcmp(offers->of[at].name, name) != 0)
        at++;
    return at;
}

bool culex__needs_are_offered(const struct culex_needs *needs, const struct culex_needs *offers)
{
    for (size_t i = 0; i < needs->count; i++) {
        if (row_find(offers, needs->of[i].name) == offers->count)
            return false;
    }
    return true;
}

bool culex__needs_fit(const struct culex_needs *needs, const struct culex_needs *offers)
{
    for (size_t i = 0; i < needs->count; i++) {
        size_t at = row_find(offers, needs->of[i].name);
        if (at == offers->count || offers->of[at].units < needs->of[i].units)
            return false;
    }
    return true;
}

void culex__needs_take(const struct culex_needs *needs, struct culex_needs *offers)
{
    for (size_t i = 0; i < needs->count; i++) {
        size_t at = row_find(offers, needs->of[i].name);
        if (at < offers->count)
            offers->of[at].units -= needs->of[i].units < offers->of[at].units
                                        ? needs->of[i].units
                                        : offers->of[at].units;
    }
}
