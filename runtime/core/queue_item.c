#include "core/queue_item.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/secret_name.h"
#include "core/queue_name.h"

/* A whole number from 1 to `max`, and nothing behind it; 0 for anything else. */
static unsigned count_read(const char *text, unsigned max)
{
    unsigned count = 0;
    for (; *text >= '0' && *text <= '9' && count <= max; text++)
        count = count * 10 + (unsigned)(*text - '0');
    return *text == '\0' && count <= max ? count : 0;
}

/* `text` ends before its '@'. */
static culex_status weight_read(struct culex_queue_item *item, char *text, culex_error *error)
{
    char *weight = strrchr(text, ':');
    item->weight = 1;
    if (weight == NULL)
        return CULEX_OK;
    *weight++ = '\0';
    item->has_weight = true;
    item->weight = count_read(weight, CULEX_WEIGHT_MAX);
    if (item->weight > 0)
        return CULEX_OK;
    return culex__fail(error, CULEX_EUSAGE,
                       "the weight of queue '%s' is '%s', and not a whole number from 1 to %d: "
                       "write NAME:WEIGHT@RUNS (of an old queue that is called '%s:%s', '%s:%s:1')",
                       text, weight, CULEX_WEIGHT_MAX, text, weight, text, weight);
}

/* NULL for no bound. */
static culex_status most_read(struct culex_queue_item *item, const char *name, const char *most,
                              culex_error *error)
{
    if (most == NULL)
        return CULEX_OK;
    item->most = count_read(most, CULEX_QUEUE_MOST_MAX);
    if (item->most > 0)
        return CULEX_OK;
    return culex__fail(
        error, CULEX_EUSAGE,
        "queue '%s' may have '%s' runs at a time, which is not a whole number from 1 "
        "to %d: write NAME:WEIGHT@RUNS",
        name, most, CULEX_QUEUE_MOST_MAX);
}

/* From behind the '@', which is cut off; NULL when there is none. */
static const char *most_split(char *text)
{
    char *at = strchr(text, '@');
    if (at == NULL)
        return NULL;
    *at = '\0';
    return at + 1;
}

/* A pattern is a name but for its stars. */
culex_status culex__queue_pattern_check(const char *pattern, culex_error *error)
{
    char plain[CULEX_QUEUE_NAME_MAX + 1];
    size_t len = strlen(pattern);
    if (strchr(pattern, '*') == NULL)
        return culex__queue_check(pattern, error);
    if (len > CULEX_QUEUE_NAME_MAX)
        return culex__fail(error, CULEX_ELIMIT, "a queue name has at most %d bytes",
                           CULEX_QUEUE_NAME_MAX);
    for (size_t i = 0; i <= len; i++)
        plain[i] = pattern[i] == '*' ? '-' : pattern[i];
    if (culex__queue_check(plain, NULL) == CULEX_OK)
        return CULEX_OK;
    return culex__fail(error, CULEX_EINVAL,
                       "queues '%s': only " CULEX_QUEUE_LETTERS " are allowed, and '*' for any "
                       "of them",
                       culex__text_shown(pattern));
}

/* Longer than any item that is well-formed: what is cut off is no name either. */
enum { ITEM_SIZE = CULEX_QUEUE_NAME_MAX + 64 };

static culex_status item_read(const char *text, struct culex_queue_item *ret_item,
                              culex_error *error)
{
    char head[ITEM_SIZE];
    struct culex_queue_item item = {.most = 0};
    size_t len = text != NULL ? strnlen(text, ITEM_SIZE - 1) : 0;
    memset(head, 0, sizeof head);
    memcpy(head, len > 0 ? text : "", len);
    const char *most = most_split(head);
    culex_status status = weight_read(&item, head, error);
    if (status == CULEX_OK)
        status = most_read(&item, head, most, error);
    if (status != CULEX_OK)
        return status;
    item.is_pattern = strchr(head, '*') != NULL;
    status = culex__queue_pattern_check(head, error);
    if (status != CULEX_OK)
        return status;
    strcpy(item.name, head);
    *ret_item = item;
    return CULEX_OK;
}

/* What is wrong may be in a part of it, which says less than the whole. */
culex_status culex__queue_item_read(const char *text, struct culex_queue_item *ret_item,
                                    culex_error *error)
{
    culex_status status = item_read(text, ret_item, error);
    if (status == CULEX_OK || text == NULL || !culex__text_is_secret(text))
        return status;
    return culex__fail(
        error, status,
        "what is given as a queue looks like a URL or a key, and is not shown: write "
        "NAME:WEIGHT@RUNS");
}

culex_status culex__queue_items_check(const char *const *texts, size_t count, culex_error *error)
{
    struct culex_queue_item item, before;
    for (size_t i = 0; i < count; i++) {
        culex_status status = culex__queue_item_read(texts[i], &item, error);
        if (status != CULEX_OK)
            return status;
        for (size_t k = 0; k < i; k++) {
            if (culex__queue_item_read(texts[k], &before, NULL) == CULEX_OK &&
                strcmp(item.name, before.name) == 0)
                return culex__fail(error, CULEX_EUSAGE, "queue '%s' is named twice", item.name);
        }
    }
    return CULEX_OK;
}

/* Where the rest behind a star fails, the star takes one letter more. */
bool culex__queue_pattern_meets(const char *pattern, const char *name)
{
    const char *star = NULL, *retry = name;
    while (*name != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            retry = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star + 1;
            name = ++retry;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

bool culex__queue_item_meets(const struct culex_queue_item *item, const char *queue)
{
    return culex__queue_pattern_meets(item->name, queue);
}
