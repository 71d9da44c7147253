/* store/schema_list.c - rows that own their names. */
#include "store/schema_list.h"

#include <stdlib.h>
#include <string.h>

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
    char *name = room_make(list) ? strdup(row->job) : NULL;
    if (name == NULL)
        return false;
    list->rows[list->count] = *row;
    list->rows[list->count++].job = name;
    return true;
}

static int row_compare(const void *a, const void *b)
{
    const struct culex_schema_row *one = a, *other = b;
    int order = strcmp(one->job, other->job);
    if (order == 0)
        order = (one->told_ms < other->told_ms) - (one->told_ms > other->told_ms);
    if (order == 0)
        order = (one->fingerprint > other->fingerprint) - (one->fingerprint < other->fingerprint);
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
        free((char *)list->rows[i].job);
    free(list->rows);
    *list = (struct culex_schema_list){.rows = NULL};
}
