/* store/limit_list.c - rows that own their one text. */
#include "store/limit_list.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more row; NULL when out of memory. */
static void *room_make(void *rows, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return rows;
    size_t wider = *capacity > 0 ? *capacity * 2 : 8;
    void *made = realloc(rows, wider * size);
    if (made != NULL)
        *capacity = wider;
    return made;
}

bool culex__limit_list_add(struct culex_limit_list *list, const struct culex_limit_row *row)
{
    struct culex_limit_row *rows =
        room_make(list->rows, list->count, &list->capacity, sizeof *rows);
    if (rows == NULL)
        return false;
    list->rows = rows;
    char *name = strdup(row->name);
    if (name == NULL)
        return false;
    rows[list->count] = *row;
    rows[list->count++].name = name;
    return true;
}

bool culex__limit_key_list_add(struct culex_limit_key_list *list,
                               const struct culex_limit_key_row *row)
{
    struct culex_limit_key_row *rows =
        room_make(list->rows, list->count, &list->capacity, sizeof *rows);
    if (rows == NULL)
        return false;
    list->rows = rows;
    char *key = strdup(row->key);
    if (key == NULL)
        return false;
    rows[list->count] = *row;
    rows[list->count++].key = key;
    return true;
}

const struct culex_limit_row *culex__limit_list_find(const struct culex_limit_list *list,
                                                     const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->rows[i].name, name) == 0)
            return &list->rows[i];
    }
    return NULL;
}

static int limit_order(const void *left, const void *right)
{
    const struct culex_limit_row *first = left, *second = right;
    return strcmp(first->name, second->name);
}

static int key_order(const void *left, const void *right)
{
    const struct culex_limit_key_row *first = left, *second = right;
    return strcmp(first->key, second->key);
}

void culex__limit_list_sort(struct culex_limit_list *list)
{
    if (list->count > 1)
        qsort(list->rows, list->count, sizeof *list->rows, limit_order);
}

void culex__limit_key_list_sort(struct culex_limit_key_list *list)
{
    if (list->count > 1)
        qsort(list->rows, list->count, sizeof *list->rows, key_order);
}

void culex__limit_list_release(struct culex_limit_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free((char *)list->rows[i].name);
    free(list->rows);
    *list = (struct culex_limit_list){.rows = NULL};
}

void culex__limit_key_list_release(struct culex_limit_key_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free((char *)list->rows[i].key);
    free(list->rows);
    *list = (struct culex_limit_key_list){.rows = NULL};
}
