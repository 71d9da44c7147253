/* storm/dump.h - the store's final content as lines of text, read without any of the product's
 * code: raw keys and tables. Each line ends in " ." like the ledgers':
 *
 *   run ID QUEUE STATE ATTEMPT FAILURES CRASHES STREAK LOSSES ATTEMPTS-MAX OWNER JOB TEXT...
 *   queue NAME ENQUEUED DONE FAILED CRASHED LOST DEAD CANCELLED STALE
 *   sound yes
 *
 * OWNER is "-" when there is none; "sound yes" stands only when all indexes and the file agree. */
#ifndef CULEX_STORM_DUMP_H
#define CULEX_STORM_DUMP_H

#include <stdbool.h>
#include <stdio.h>

enum { DUMP_ID_SIZE = 37 };

/* 16 bytes as a UUID's text. */
void dump_id(const void *bytes, char ret_text[DUMP_ID_SIZE]);

/* `len` bytes with everything that ends a line made a space. */
void dump_text(FILE *out, const char *text, size_t len);

/* False, with the reason on stderr, when the store cannot be read. */
bool dump_redis(const char *socket, FILE *out);
bool dump_sqlite(const char *path, FILE *out);

#endif
