/* store/metadata_list.c - rows that own their texts: a block each, the name first, the bytes
 * behind.
 */
#include "store/metadata_list.h"

#include <stdlib.h>
#include <string.h>

static bool room_make(struct culex_metadata_list *list)
{
    if (list->count < list->capacity)
        return true;
    size_t capacity = list->capacity > 0 ? list->capacity * 2 : 4;
    struct culex_metadata_row *rows = realloc(list->rows, capacity * sizeof *rows);
    if (rows == NULL)
        return false;
    list->rows = rows;
    list->capacity = capacity;
    return true;
}

bool culex__metadata_list_add(struct culex_metadata_list *list,
                              const struct culex_metadata_row *row)
{
    size_t name_size = strlen(row->job) + 1;
    char *block = room_make(list) ? malloc(name_size + row->len) : NULL;
    if (block == NULL)
        return false;
    memcpy(block, row->job, name_size);
    if (row->len > 0)
        memcpy(block + name_size, row->bytes, row->len);
    struct culex_metadata_row *made = &list->rows[list->count++];
    *made = *row;
    made->job = block;
    made->bytes = block + name_size;
    return true;
}

static int row_compare(const void *a, const void *b)
{
    const struct culex_metadata_row *one = a, *other = b;
    return strcmp(one->job, other->job);
}

void culex__metadata_list_sort(struct culex_metadata_list *list)
{
    if (list->count > 0)
        qsort(list->rows, list->count, sizeof *list->rows, row_compare);
}

void culex__metadata_list_release(struct culex_metadata_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free((char *)list->rows[i].job);
    free(list->rows);
    *list = (struct culex_metadata_list){.rows = NULL};
}
