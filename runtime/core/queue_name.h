/* core/queue_name.h - what a queue may be called. */
#ifndef CULEX_CORE_QUEUE_NAME_H
#define CULEX_CORE_QUEUE_NAME_H

#include <culex/error.h>

/* What the schema language, producers and stores all allow, as each of them says it. */
#define CULEX_QUEUE_LETTERS "letters, digits, '_', '.' and '-'"

/* What producers may choose, as in the schema language: 1 to CULEX_QUEUE_NAME_MAX of
 * A-Z a-z 0-9 _ . - */
culex_status culex__queue_choice_check(const char *queue, culex_error *error);

/* What a store may hold: ':' as well, which producers could once choose. Such queues are read,
 * served and emptied as all others. */
culex_status culex__queue_check(const char *queue, culex_error *error);

#endif
