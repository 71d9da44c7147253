/* platform/path.h - paths that mean the same wherever the process goes. */
#ifndef CULEX_PLATFORM_PATH_H
#define CULEX_PLATFORM_PATH_H

enum { CULEX__PATH_SIZE = 4096 }; /* longest name of a folder that the system tells, and its NUL */

/* `path` made absolute, owned; links stay in it. A relative one counts from `folder`, or for NULL
 * from the folder that this process is in. A folder "" has no name, and then a relative path is
 * ENOENT. NULL with errno. */
char *culex__path_absolute(const char *path, const char *folder);

/* The folder that `path` lies in, owned; NULL when out of memory. */
char *culex__path_folder(const char *path);

/* Follows `path` from link to link, and returns the last name, owned: that of a file, or of nothing
 * yet. `path` itself when it is no link; links to folders stay in it. NULL with errno; ELOOP for
 * links that lead to each other. */
char *culex__path_follow(const char *path);

#endif
