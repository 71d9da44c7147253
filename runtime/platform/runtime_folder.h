/* platform/runtime_folder.h - a folder in which processes of one user on one machine find each
 * other. */
#ifndef CULEX_PLATFORM_RUNTIME_FOLDER_H
#define CULEX_PLATFORM_RUNTIME_FOLDER_H

#include <stdbool.h>

enum { CULEX_RUNTIME_FOLDER_SIZE = 512, CULEX_RUNTIME_FOLDER_WHY_SIZE = 512 + 128 };

/* Makes the folder where it is missing. The first that will do of $XDG_RUNTIME_DIR/culex,
 * /run/user/UID/culex, /run/culex (root's), /tmp/culex-UID. It belongs to this user, is open to
 * nobody else, can be written, and lies on no network, where locks do not end with their holders.
 * False when there is none: *ret_why says what is wrong with the last one. */
bool culex__runtime_folder_find(char ret_path[CULEX_RUNTIME_FOLDER_SIZE],
                                char ret_why[CULEX_RUNTIME_FOLDER_WHY_SIZE]);

#endif
