/* store/figure_list.h - figures of a queue, as a store hands them out. */
#ifndef CULEX_STORE_FIGURE_LIST_H
#define CULEX_STORE_FIGURE_LIST_H

#include "store/store.h"

enum { CULEX_HOUR_MS = 3600000 };

/* Copies the row and its texts. False when out of memory: the list is as it was. A list of zeroes
 * is empty. */
bool culex__figure_list_add(struct culex_figure_list *list, const struct culex_figure_row *row);

/* Leaves an empty list. */
void culex__figure_list_release(struct culex_figure_list *list);

/* The order of rows. */
int culex__figure_order(const struct culex_figure_row *left, const struct culex_figure_row *right);

/* What is told at `now_ms` is kept by then with this hour, and with none before or, behind a clock
 * that was ahead, so far after it. */
static inline bool culex__figure_is_kept(int64_t hour, int64_t now_ms)
{
    int64_t now = now_ms / CULEX_HOUR_MS;
    return hour > now - CULEX_FIGURES_HOURS && hour < now + CULEX_FIGURES_HOURS;
}

#endif
