/* client/enqueue_options.h - whether what a caller says of one enqueue is what he can have meant.
 *
 * Nothing is taken silently for something else: an option without its flag, a count of seconds
 * where nanoseconds are wanted, an id where a ticket belongs. */
#ifndef CULEX_CLIENT_ENQUEUE_OPTIONS_H
#define CULEX_CLIENT_ENQUEUE_OPTIONS_H

#include <culex/client.h>

/* For `count` runs. CULEX_EINVAL says which option, why, and what to write. Queue and tags are for
 * newrun.h to judge. */
culex_status culex__enqueue_options_check(const culex_enqueue_options *options, size_t count,
                                          culex_error *error);

/* Time and priority alone, in a struct that the caller calls `whole`: "options", "move". */
culex_status culex__move_check(const char *whole, const culex_move *move, culex_error *error);

#endif
