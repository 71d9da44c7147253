/* core/queue_name.h - what a queue may be called. */
#ifndef CULEX_CORE_QUEUE_NAME_H
#define CULEX_CORE_QUEUE_NAME_H

#include <culex/error.h>

/* Queue names: 1 to CULEX_QUEUE_NAME_MAX of A-Z a-z 0-9 _ - . : */
culex_status culex__queue_check(const char *queue, culex_error *error);

#endif
