/* store/metadata_list.h - what the jobs of a queue keep, as a store hands it out. */
#ifndef CULEX_STORE_METADATA_LIST_H
#define CULEX_STORE_METADATA_LIST_H

#include "store/store.h"

/* Copies the row and what it points to, behind the others. False when out of memory: the list is as
 * it was. A list of zeroes is empty. */
bool culex__metadata_list_add(struct culex_metadata_list *list,
                              const struct culex_metadata_row *row);

/* By the bytes of the names. */
void culex__metadata_list_sort(struct culex_metadata_list *list);

/* Leaves an empty list. */
void culex__metadata_list_release(struct culex_metadata_list *list);

#endif
