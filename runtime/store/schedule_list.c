/* store/schedule_list.c - rows that own their texts: a block each, name first, template behind it.
 */
#include "store/schedule_list.h"

#include <stdlib.h>
#include <string.h>

static bool room_make(struct culex_schedule_list *list)
{
    if (list->count < list->capacity)
        return true;
    size_t capacity = list->capacity > 0 ? list->capacity * 2 : 8;
    struct culex_schedule_row *rows = realloc(list->rows, capacity * sizeof *rows);
    if (rows == NULL)
        return false;
    list->rows = rows;
    list->capacity = capacity;
    return true;
}

bool culex__schedule_list_add(struct culex_schedule_list *list,
                              const struct culex_schedule_row *row)
{
    size_t name_size = strlen(row->name) + 1;
    char *block = room_make(list) ? malloc(name_size + row->template_len) : NULL;
    if (block == NULL)
        return false;
    memcpy(block, row->name, name_size);
    if (row->template_len > 0)
        memcpy(block + name_size, row->template, row->template_len);
    struct culex_schedule_row *made = &list->rows[list->count++];
    *made = *row;
    made->name = block;
    made->template = block + name_size;
    return true;
}

const struct culex_schedule_row *culex__schedule_list_find(const struct culex_schedule_list *list,
                                                           const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->rows[i].name, name) == 0)
            return &list->rows[i];
    }
    return NULL;
}

void culex__schedule_list_release(struct culex_schedule_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free((char *)list->rows[i].name);
    free(list->rows);
    *list = (struct culex_schedule_list){.rows = NULL};
}
