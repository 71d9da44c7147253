/* lock_json.h - the text of a lock: which members its records have, in their order.
 *
 * Reader and writer walk the same tables. What is not set (NULL, -1, false, an empty list) is
 * not written. */
#ifndef CULEXC_LOCK_JSON_H
#define CULEXC_LOCK_JSON_H

#include <stddef.h>

#include "lock.h"

enum lock_member_kind {
    LOCK_TEXT,   /* const char * */
    LOCK_NUMBER, /* int64_t, not negative */
    LOCK_BOOL,   /* bool */
    LOCK_TEXTS,  /* struct lock_text * */
    LOCK_ITEMS,  /* a pointer to the first record of a list */
    LOCK_RECORD  /* a pointer to a record */
};

struct lock_record;
struct lock_member {
    const char *name;
    enum lock_member_kind kind;
    bool is_required; /* always written, and an error when it is missing */
    size_t offset;
    const struct lock_record *record;
    size_t max; /* items or texts */
};

struct lock_record {
    size_t size;
    bool is_line;                      /* written on one line */
    size_t span;                       /* offset of the struct span that a reader sets; 0: none */
    const struct lock_member *members; /* the last one has no name */
};

extern const struct lock_record lock_record_root;

#endif
