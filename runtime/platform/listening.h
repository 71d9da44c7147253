/* platform/listening.h - a socket at which programs of this machine, or others, may ask something.
 *
 * An address is "PORT" or ":PORT" (of this machine alone: 127.0.0.1), "HOST:PORT", "[V6]:PORT" or
 * "unix:PATH". The host is a number, or localhost: no name is looked up. Port 0 is any free one. */
#ifndef CULEX_PLATFORM_LISTENING_H
#define CULEX_PLATFORM_LISTENING_H

#include <stdbool.h>
#include <stddef.h>

#include <culex/error.h>

struct culex_listening {
    int fd;          /* close-on-exec and non-blocking; -1: none */
    char path[108];  /* the socket's file, "" for none */
    char shown[160]; /* the address that it got, as above */
};

/* CULEX_EUSAGE says what is no address about the text, and what one is. */
culex_status culex__listening_check(const char *address, culex_error *error);

/* CULEX_EUSAGE when nobody could listen there, as far as can be seen without trying: for want of
 * the folder of a socket's file, or of the right to write in it. */
culex_status culex__listening_foresee(const char *address, culex_error *error);

/* CULEX_EUSAGE as above, and with address and reason when nobody can listen there. A socket's file
 * that nobody listens at any more is replaced. */
culex_status culex__listening_open(const char *address, struct culex_listening *ret_listening,
                                   culex_error *error);

/* Removes the file. `is_closed`: somebody else has closed the descriptor. Does nothing without one.
 */
void culex__listening_close(struct culex_listening *listening, bool is_closed);

#endif
