/* client/keyfile.h - the file of keys that a client or a worker is told of. */
#ifndef CULEX_CLIENT_KEYFILE_H
#define CULEX_CLIENT_KEYFILE_H

#include "core/keys.h"

/* The keys of the file `path`, of $CULEX_KEYS for NULL; without both *ret_keys is NULL.
 * CULEX_EUSAGE: the file cannot be read, others than this user can
 * (platform/secret_file.h), or it holds something else;
 * what stands in it is never told, nor what stands in place of its name (base/secret_name.h).
 * Returned owned. */
culex_status culex__keyfile_read(const char *path, struct culex_keys **ret_keys,
                                 culex_error *error);

/* Wipes and frees them. Accepts NULL. */
void culex__keys_free(struct culex_keys *keys);

#endif
