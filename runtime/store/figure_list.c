/* store/figure_list.c - rows that own their texts, which are one block. */
#include "store/figure_list.h"

#include <stdlib.h>
#include <string.h>

static bool room_make(struct culex_figure_list *list)
{
    if (list->count < list->capacity)
        return true;
    size_t wider = list->capacity > 0 ? list->capacity * 2 : 8;
    struct culex_figure_row *rows = realloc(list->rows, wider * sizeof *rows);
    if (rows == NULL)
        return false;
    list->rows = rows;
    list->capacity = wider;
    return true;
}

bool culex__figure_list_add(struct culex_figure_list *list, const struct culex_figure_row *row)
{
    size_t job_size = strlen(row->job) + 1, text_size = strlen(row->text) + 1;
    char *texts = room_make(list) ? malloc(job_size + text_size) : NULL;
    if (texts == NULL)
        return false;
    memcpy(texts + job_size, row->text, text_size);
    list->rows[list->count++] =
        (struct culex_figure_row){row->hour, memcpy(texts, row->job, job_size), texts + job_size};
    return true;
}

void culex__figure_list_release(struct culex_figure_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free((char *)list->rows[i].job);
    free(list->rows);
    *list = (struct culex_figure_list){.rows = NULL};
}

int culex__figure_order(const struct culex_figure_row *left, const struct culex_figure_row *right)
{
    if (left->hour != right->hour)
        return left->hour < right->hour ? -1 : 1;
    return strcmp(left->job, right->job);
}
