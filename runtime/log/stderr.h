/* log/stderr.h - lines to descriptor 2 that hold nobody up.
 *
 * Standard error may be a pipe whose reader has stopped, and it may be shared, so its flags are not
 * ours to set. A line waits for room for at most a tenth of each second, all threads and workers
 * together; what finds none is dropped and counted. What is known about the descriptor belongs to
 * the process, as the descriptor does: handlers on threads may write after their worker's end. */
#ifndef CULEX_LOG_STDERR_H
#define CULEX_LOG_STDERR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes a line, or counts it as dropped. Other writers' lines never stand inside it while it is
 * no longer than PIPE_BUF. One that had to be cut short ends there, with a newline. */
void culex__stderr_write(const char *line, size_t len);

/* How many lines were dropped, once standard error takes lines again; then counts from 0 again. */
uint64_t culex__stderr_take_dropped(void);

/* It leads to systemd's journal: $JOURNAL_STREAM names its device and inode (systemd.exec(5)). */
bool culex__stderr_is_journal(void);

#endif
