/* server.h - a language server for .job files: the Language Server Protocol 3.17 on a pair of
 * descriptors, one message at a time. */
#ifndef CULEXC_SERVER_H
#define CULEXC_SERVER_H

#include <stddef.h>

struct server_options {
    int in, out;
    const char *const *include_dirs; /* as of -I, absolute or relative to the current folder */
    size_t include_count;
    unsigned tiers; /* of lint rules whose findings are shown, see lint.h */
};

/* Serves until `exit` or the end of the input. 0: as the protocol wants it, `shutdown` came
 * first; 1: otherwise. */
int server_run(const struct server_options *options);

#endif
