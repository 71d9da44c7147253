/* platform/path.h - paths that mean the same wherever the process goes. */
#ifndef CULEX_PLATFORM_PATH_H
#define CULEX_PLATFORM_PATH_H

/* The folder that this process is in, owned. NULL, with errno, when it has no name any more. */
char *culex__path_folder(void);

/* `path` as seen from `folder`, owned; links stay in it. `folder` may be NULL: the one that this
 * process is in. NULL with errno. */
char *culex__path_absolute(const char *path, const char *folder);

#endif
