/* store/schema_list.h - the schemas of a queue, without their texts, as a store hands them out;
 * and what a text is known by. */
#ifndef CULEX_STORE_SCHEMA_LIST_H
#define CULEX_STORE_SCHEMA_LIST_H

#include "store/store.h"

/* Copies the row and its name, behind the others. False when out of memory: the list is as it was.
 * A list of zeroes is empty. */
bool culex__schema_list_add(struct culex_schema_list *list, const struct culex_schema_row *row);

/* By the bytes of the names, of a job the newest told first, of one instant by fingerprint
 * and digest. */
void culex__schema_list_sort(struct culex_schema_list *list);

/* Of the text of a schema, by FNV-1a; the same on every machine and in every version. Never 0. */
uint64_t culex__schema_digest(const char *text, size_t len);

/* Leaves an empty list. */
void culex__schema_list_release(struct culex_schema_list *list);

#endif
