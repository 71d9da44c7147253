/* platform/notify.h - a word to the service manager that started this process.
 *
 * The protocol is that of sd_notify(3): one datagram of lines NAME=VALUE to the socket in the
 * variable NOTIFY_SOCKET, which is a path, or "@" and a name that is in no file system. Each word
 * has a socket of its own, so that none is open while handlers are forked. */
#ifndef CULEX_PLATFORM_NOTIFY_H
#define CULEX_PLATFORM_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>

/* The address fits what the system has room for, and is of a kind that is spoken here. */
bool culex__notify_takes(const char *address);

/* False with errno when it was not sent. Never waits. */
bool culex__notify_send(const char *address, const char *text);

/* As the one above, when options are read again: RELOADING=1, and when that was by the clock that
 * the manager compares it with. */
bool culex__notify_send_reloading(const char *address);

#endif
