/* store/sqlite/option.h - what a sqlite: URL says beside the path. */
#ifndef CULEX_STORE_SQLITE_OPTION_H
#define CULEX_STORE_SQLITE_OPTION_H

#include "store/store.h"

/* What follows '?' in the URL. */
struct culex_sqlite_options {
    bool accepts_network; /* accept-network=1 */
    bool has_no_reserve;  /* reserve=0 */
};

/* `rest` is PATH[?NAME=VALUE[&...]]. CULEX_EURL for what it does not know, and for a file without a
 * path. */
culex_status culex__sqlite_option_read(const char *rest, bool is_memory,
                                       struct culex_sqlite_options *ret_options,
                                       culex_error *error);
/* Its path, or the name of a store in memory, owned; NULL when out of memory. */
char *culex__sqlite_option_path(const char *rest);

#endif
