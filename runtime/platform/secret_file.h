/* platform/secret_file.h - whether a file may hold a secret: the keys, or the URL of the store.
 *
 * Nobody but the user that this process runs as can read it; or it is root's, and besides root only
 * the group of this process can: so container engines and service managers hand secrets over. */
#ifndef CULEX_PLATFORM_SECRET_FILE_H
#define CULEX_PLATFORM_SECRET_FILE_H

#include <sys/stat.h>

#include <culex/error.h>

/* `refusal` where it may not, with what is wrong of the file `path`; `what` begins the text: "URL
 * file". Access lists are not looked at: the mode shows what they can give at most. */
culex_status culex__secret_file_check(const char *what, const char *path, const struct stat *file,
                                      culex_status refusal, culex_error *error);

#endif
