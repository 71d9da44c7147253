/* ops/command/open.h - the store that the options name. */
#ifndef OPS_COMMAND_OPEN_H
#define OPS_COMMAND_OPEN_H

#include "command/command.h"

/* One that is not there is not made: CULEX_ECONNECT. ops->client is for the caller to close. */
culex_status ops_store_open(struct ops *ops, culex_error *error);
/* The same; an SQLite file that is not there is made. */
culex_status ops_store_open_new(struct ops *ops, culex_error *error);

/* Whether its client has a file of keys, for params and results that are encrypted. */
bool ops_has_keys(const struct ops *ops);

#endif
