/* store/limit_list.h - the limits of a queue, and the keys of one, as a store hands them out. */
#ifndef CULEX_STORE_LIMIT_LIST_H
#define CULEX_STORE_LIMIT_LIST_H

#include "store/store.h"

/* Copies the row and its text. False when out of memory: the list is as it was. A list of zeroes is
 * empty. */
bool culex__limit_list_add(struct culex_limit_list *list, const struct culex_limit_row *row);
bool culex__limit_key_list_add(struct culex_limit_key_list *list,
                               const struct culex_limit_key_row *row);

/* NULL when it is not in the list. */
const struct culex_limit_row *culex__limit_list_find(const struct culex_limit_list *list,
                                                     const char *name);

/* By name; by key. Both as the bytes are. */
void culex__limit_list_sort(struct culex_limit_list *list);
void culex__limit_key_list_sort(struct culex_limit_key_list *list);

/* They leave an empty list. */
void culex__limit_list_release(struct culex_limit_list *list);
void culex__limit_key_list_release(struct culex_limit_key_list *list);

#endif
