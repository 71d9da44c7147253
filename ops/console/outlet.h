/* ops/console/outlet.h - lines to a descriptor that hold nobody up.
 *
 * A log may be a pipe whose reader has stopped. A line waits for room for at most a tenth of each
 * second, all threads together; what finds none is dropped and counted, and told once there is room
 * again. The descriptor is shared with other processes, so its flags are not ours to set. */
#ifndef OPS_CONSOLE_OUTLET_H
#define OPS_CONSOLE_OUTLET_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outlet {
    int fd;
    bool is_file; /* nobody reads that while it is written, and it takes lines whole */
    pthread_mutex_t lock;
    int64_t wait_from_ms; /* nobody waits before */
    uint64_t dropped;     /* lines, not yet told */
    bool is_cut;          /* the last line lacks its end */
};

/* An outlet to the descriptor, which stays the caller's. */
struct outlet outlet_make(int fd);

/* Writes a line with its newline, or counts it as dropped. *ret_dropped: of lines before, now that
 * one was written; they are told no more. */
void outlet_write(struct outlet *outlet, const char *line, size_t len, uint64_t *ret_dropped);

#endif
