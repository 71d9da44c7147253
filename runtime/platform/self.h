/* platform/self.h - what this process asks of the system about itself and its descendants.
 *
 * On Linux that is prctl(2) and /proc/self. A system that lacks one of these says false, and what
 * the caller does without it is told there. */
#ifndef CULEX_PLATFORM_SELF_H
#define CULEX_PLATFORM_SELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The name that ps and top show, 15 bytes of it. */
void culex__self_rename(const char *name);

/* `signal` comes when our parent ends. Who calls this checks afterwards that it still lives. */
bool culex__self_follow_parent(int signal);

/* Descendants that lose their parent become our children. */
bool culex__self_adopt_orphans(void);

/* Nobody but root reads our memory, and it is dumped nowhere. */
void culex__self_conceal(void);

/* 1 when this process can gain no privileges any more, 0 when it can, negative when unknown. */
int culex__self_no_new_privileges(void);

/* Calls `visit` with each of our children, whichever of our threads forked them, until it returns
 * false. Returns false when they cannot be listed. */
bool culex__self_visit_children(bool (*visit)(void *user, pid_t pid), void *user);

struct culex_memory_use {
    int64_t resident; /* bytes, as the others */
    int64_t unshared; /* those of them that no file is behind */
    int64_t data;     /* what RLIMIT_DATA counts */
};

/* False when unknown. A signal handler may call it: it neither allocates nor locks. */
bool culex__self_memory(struct culex_memory_use *ret_use);

/* Resident bytes of our descendants, pages that they share counted in each; of the first 256 of
 * them that are met. 0 when unknown. */
int64_t culex__self_descendants_memory(void);

/* Writes a list of our timers of timer_create(3), as far as it fits, and zeros behind it; only
 * zeros when the system does not list them. It is there to be compared with a later one. */
void culex__self_list_timers(char *ret_list, size_t size);

#endif
