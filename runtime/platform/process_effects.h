/* platform/process_effects.h - what process isolation asks of the kernel and may be refused.
 *
 * Every call that can fail for want of memory, descriptors or processes goes through here, so
 * that a test can refuse the n-th of them, in the supervisor, the zygote and the children.
 * All return as the call they are named after does, errno included. The descriptors are the
 * library's: culex__descriptor_close closes them. */
#ifndef CULEX_PLATFORM_PROCESS_EFFECTS_H
#define CULEX_PLATFORM_PROCESS_EFFECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct culex_process_effects {
    void *self;
    /* The errno with which `call` is to fail, 0 to let it go ahead. NULL: all go ahead. */
    int (*refuse)(void *self, const char *call);
};

pid_t culex__process_fork(const struct culex_process_effects *effects);

/* A pair of connected SOCK_SEQPACKET sockets, close-on-exec and blocking. */
int culex__process_socketpair(const struct culex_process_effects *effects, int ret_fds[2]);

/* `size` bytes of zeroed memory that children share; NULL when refused. */
void *culex__process_share(const struct culex_process_effects *effects, size_t size);

/* See events.h. */
int culex__process_watch_open(const struct culex_process_effects *effects);
bool culex__process_watch_add(const struct culex_process_effects *effects, int watch_fd, int fd,
                              short events, uint64_t about);
int culex__process_bell_open(const struct culex_process_effects *effects);
int culex__process_alarm_open(const struct culex_process_effects *effects);

/* For files of the kernel's own, of a line or a few: read ends the text with a NUL and cuts what is
 * longer; write hands all of `text` over at once, or fails. */
int culex__process_mkdir(const struct culex_process_effects *effects, const char *path);
int culex__process_open(const struct culex_process_effects *effects, const char *path, int flags);
ssize_t culex__process_read_file(const struct culex_process_effects *effects, const char *path,
                                 char *ret_text, size_t size);
int culex__process_write_file(const struct culex_process_effects *effects, const char *path,
                              const char *text);

/* See culex__packet_send. */
ssize_t culex__process_send(const struct culex_process_effects *effects, int socket_fd,
                            const void *bytes, size_t len, int fd);

#endif
