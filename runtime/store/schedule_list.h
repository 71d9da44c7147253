/* store/schedule_list.h - the schedules of a queue, as a store hands them out. */
#ifndef CULEX_STORE_SCHEDULE_LIST_H
#define CULEX_STORE_SCHEDULE_LIST_H

#include "store/store.h"

/* Copies the row and what it points to. False when out of memory: the list is as it was. A list of
 * zeroes is empty. */
bool culex__schedule_list_add(struct culex_schedule_list *list,
                              const struct culex_schedule_row *row);

/* NULL when it is not in the list. */
const struct culex_schedule_row *culex__schedule_list_find(const struct culex_schedule_list *list,
                                                           const char *name);

/* Leaves an empty list. */
void culex__schedule_list_release(struct culex_schedule_list *list);

#endif
