/* platform/events.h - descriptors to wait for: a bell, an alarm, signals, writes to a file, files
 * of a folder that are closed, and a set of all of them.
 *
 * Each is the library's (culex__descriptor_close closes it), close-on-exec, and readable while it
 * has something to tell, so poll(2) waits for it too. `open` returns -1 with errno where none can
 * be had. Nothing here waits. On Linux they are an eventfd, a timerfd, a signalfd,
 * inotify and epoll. */
#ifndef CULEX_PLATFORM_EVENTS_H
#define CULEX_PLATFORM_EVENTS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A bell: rung by any thread or signal handler, until somebody takes how often that was. */
int culex__bell_open(void);
bool culex__bell_ring(int bell_fd);
uint64_t culex__bell_take(int bell_fd);

/* An alarm, which goes off once at `at_ns` (boot time) after each time that it is set. `take` is
 * true when it has gone off. */
int culex__alarm_open(void);
bool culex__alarm_set(int alarm_fd, int64_t at_ns);
bool culex__alarm_take(int alarm_fd);

/* Signals, which must be blocked; `take` forgets those that came. */
int culex__signals_open(const sigset_t *awaited);
void culex__signals_take(int signals_fd);

/* Writes to the file of this name, by whomever; what is read there tells no more than that. */
int culex__writes_open(const char *path);

/* Files in this folder that were open for writing and are so no more, in whichever process; what is
 * read there tells no more than that, and `take` forgets it. A lock on such a file may be held for
 * some microseconds more. */
int culex__closes_open(const char *folder);
void culex__closes_take(int closes_fd);

/* A set of descriptors to watch for `events` as of poll(2), each under a number of the caller's,
 * `about`. A descriptor that is closed leaves the set by itself if nobody else has it open. */
int culex__watch_open(void);
bool culex__watch_add(int watch_fd, int fd, short events, uint64_t about);
bool culex__watch_change(int watch_fd, int fd, short events, uint64_t about);
void culex__watch_remove(int watch_fd, int fd);

/* Writes the numbers of at most `max` descriptors that have news, and returns how many. */
size_t culex__watch_take(int watch_fd, uint64_t *ret_about, size_t max);

#endif
