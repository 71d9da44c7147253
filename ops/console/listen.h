/* ops/console/listen.h - the socket that the server takes its connections from. */
#ifndef OPS_CONSOLE_LISTEN_H
#define OPS_CONSOLE_LISTEN_H

#include <stdbool.h>

#include <culex/error.h>

enum { LISTEN_NAME_SIZE = 160 };

struct listener {
    int fd;
    bool is_loopback;            /* whoever is on this machine, and nobody else */
    bool is_local;               /* a Unix socket: this user alone */
    char name[LISTEN_NAME_SIZE]; /* "127.0.0.1:7420", with the port that was given for 0 */
    char path[108];              /* of a Unix socket, "" for none */
};

/* Listens at "127.0.0.1:7420", "[::1]:7420", "localhost:7420" or "unix:/run/culex.sock".
 * CULEX_EUSAGE tells why it cannot. */
culex_status listener_open(const char *where, struct listener *ret_listener, culex_error *error);

#endif
