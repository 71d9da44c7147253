/* storm/proc.h - the processes of this machine, as /proc shows them. */
#ifndef CULEX_STORM_PROC_H
#define CULEX_STORM_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PROC_DESCENDANTS_MAX = 256 };

struct proc_list {
    struct proc_entry {
        pid_t pid, parent;
        char state;     /* as in /proc/PID/stat: 'Z' is a zombie */
        unsigned depth; /* 1: a child */
    } entries[PROC_DESCENDANTS_MAX];
    size_t count;
};

/* All descendants of `root` at this moment, parents before children. */
void proc_descendants(pid_t root, struct proc_list *ret_list);

/* Sends `number` to `pid` if it still is a child of `parent`, and never to a process that got
 * the same number meanwhile. False when it is not. */
bool proc_signal(pid_t pid, pid_t parent, int number);

/* Open descriptors of `pid`; -1 when it is gone. */
int proc_descriptors(pid_t pid);

#endif
