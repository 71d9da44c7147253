/* store/worker_list.c - rows that own their texts: a block each, id first, sheet behind it. */
#include "store/worker_list.h"

#include <stdlib.h>
#include <string.h>

static bool room_make(struct culex_worker_list *list)
{
    if (list->count < list->capacity)
        return true;
    size_t capacity = list->capacity > 0 ? list->capacity * 2 : 8;
    struct culex_worker_row *rows = realloc(list->rows, capacity * sizeof *rows);
    if (rows == NULL)
        return false;
    list->rows = rows;
    list->capacity = capacity;
    return true;
}

bool culex__worker_list_add(struct culex_worker_list *list, const struct culex_worker_row *row)
{
    size_t id_size = strlen(row->id) + 1;
    char *block = room_make(list) ? malloc(id_size + row->sheet_len) : NULL;
    if (block == NULL)
        return false;
    memcpy(block, row->id, id_size);
    if (row->sheet_len > 0)
        memcpy(block + id_size, row->sheet, row->sheet_len);
    struct culex_worker_row *made = &list->rows[list->count++];
    *made = *row;
    made->id = block;
    made->sheet = block + id_size;
    return true;
}

const struct culex_worker_row *culex__worker_list_find(const struct culex_worker_list *list,
                                                       const char *id)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->rows[i].id, id) == 0)
            return &list->rows[i];
    }
    return NULL;
}

void culex__worker_list_release(struct culex_worker_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free((char *)list->rows[i].id);
    free(list->rows);
    *list = (struct culex_worker_list){.rows = NULL};
}

static uint64_t greater(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

/* By the clock, so that a worker whose entry was lost does not take a later wish for an old one. */
bool culex__worker_wish_join(struct culex_worker_wish *wish, const struct culex_worker_wish *wanted,
                             uint64_t heard, int64_t now_ms)
{
    struct culex_worker_wish joined = *wish;
    if (wanted->quiet != CULEX_SWITCH_KEEP)
        joined.quiet = wanted->quiet;
    if (wanted->concurrency > 0)
        joined.concurrency = wanted->concurrency;
    joined.is_stop |= wanted->is_stop;
    bool is_same = joined.quiet == wish->quiet && joined.concurrency == wish->concurrency &&
                   joined.is_stop == wish->is_stop;
    if (is_same && wish->number != 0)
        return false;
    uint64_t now = now_ms > 0 ? (uint64_t)now_ms : 0;
    joined.number = greater(now, greater(wish->number, heard) + 1);
    *wish = joined;
    return true;
}
