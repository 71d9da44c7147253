/* platform/door.h - a door at which other processes knock, and which turns them away while its
 * owner is busy.
 *
 * Its address is a path, at which a file comes to be, or "@NAME", which has no file. A door is a
 * descriptor of the library's (culex__descriptor_close closes it), close-on-exec, and readable
 * while somebody has knocked: each byte read there is a knock. Nothing here waits. On Linux it is a
 * datagram socket, and a busy one is connected to itself: then the kernel refuses the datagrams of
 * everybody else. */
#ifndef CULEX_PLATFORM_DOOR_H
#define CULEX_PLATFORM_DOOR_H

#include <stdbool.h>

/* With its NUL; no door has a longer address. */
enum { CULEX_DOOR_ADDRESS_SIZE = 108 };

enum culex_knock {
    CULEX_KNOCK_HEARD, /* or will be: the owner has more knocks before him than there is room for */
    CULEX_KNOCK_UNHEARD, /* the owner is busy, or he cannot be asked */
    CULEX_KNOCK_DEAD     /* nobody will ever open there again */
};

/* A descriptor without an address, to knock with; -1 with errno. */
int culex__door_open(void);

/* Gives it an address, where nobody may be yet, and opens the door: its owner is idle. False with
 * errno. */
bool culex__door_place(int door_fd, const char *address);

/* The owner of the door at `address` hears nobody, or everybody again. */
void culex__door_become_busy(int door_fd, const char *address);
void culex__door_become_idle(int door_fd);

/* Knocks at the door at `address` with `door_fd`, which may be that door itself if it is idle. */
enum culex_knock culex__door_knock(int door_fd, const char *address);

/* Takes the file of an address away, if it has one. */
void culex__door_remove(const char *address);

#endif
