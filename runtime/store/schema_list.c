/* store/schema_list.c - rows that own their names. */
#include "store/schema_list.h"

#include <stdlib.h>
#include <string.h>

uint64_t culex__schema_digest(const char *text, size_t len)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++)
        digest = (digest ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return digest != 0 ? digest : 1;
}

static bool room_make(struct culex_schema_list *list)
{
    if (list->count < list->capacity)
        return true;
    size_t capacity = list->capacity > 0 ? list->capacity * 2 : 4;
    struct culex_schema_row *rows = realloc(list->rows, capacity * sizeof *rows);
    if (rows == NULL)
        return false;
    list->rows = rows;
    list->capacity = capacity;
    return true;
}

bool culex__schema_list_add(struct culex_schema_list *list, const struct culex_schema_row *row)
{
    char *name = room_make(list) ? strdup(row->id.job) : NULL;
    if (name == NULL)
        return false;
    list->rows[list->count] = *row;
    list->rows[list->count++].id.job = name;
    return true;
}

static int number_compare(uint64_t one, uint64_t other)
{
    return (one > other) - (one < other);
}

static int row_compare(const void *a, const void *b)
{
    const struct culex_schema_row *one = a, *other = b;
    int order = strcmp(one->id.job, other->id.job);
    if (order == 0)
        order = (one->told_ms < other->told_ms) - (one->told_ms > other->told_ms);
    if (order == 0)
        order = number_compare(one->id.fingerprint, other->id.fingerprint);
    if (order == 0)
        order = number_compare(one->id.digest, other->id.digest);
    return order;
}

void culex__schema_list_sort(struct culex_schema_list *list)
{
    if (list->count > 0)
        qsort(list->rows, list->count, sizeof *list->rows, row_compare);
}

void culex__schema_list_release(struct culex_schema_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free((char *)list->rows[i].id.job);
    free(list->rows);
    *list = (struct culex_schema_list){.rows = NULL};
}
