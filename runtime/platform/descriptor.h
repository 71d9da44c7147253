/* platform/descriptor.h - which descriptors of this process the library itself has open.
 *
 * A child inherits what the program opened, and must not inherit ours: connections
 * that carry a password, and channels whose end nobody would see while a copy is open. So each
 * descriptor that we open is noted by its number, until it is closed. SQLite's own, of a client
 * that the program opened, are not known here; after a fork nobody may use that client anyway.
 *
 * The numbers belong to the process, and so does the note: this is no state of a client or worker.
 * Any thread. */
#ifndef CULEX_PLATFORM_DESCRIPTOR_H
#define CULEX_PLATFORM_DESCRIPTOR_H

/* Notes `fd` and returns it; a negative one is returned as it is. One of the standard numbers, of a
 * program in which they are closed, is moved from there first, and is closed on exec then; -1 and
 * errno where no other number is to be had. */
int culex__descriptor_own(int fd);

/* Closes it and forgets it; errno stays. One that is not ours (any more: see drop) is left alone,
 * as the program may have the number by now. So is a negative one. */
void culex__descriptor_close(int fd);

/* Forgets one that somebody else has closed. Where the number is open again it may be another one
 * of ours, so the note stays. errno stays. A negative one is left alone. */
void culex__descriptor_forget(int fd);

/* Moves `fd`, ours, to a high number, which no program will take for its own, and closes the low
 * one. Returns the new number; `fd` itself where there is no higher one to be had. */
int culex__descriptor_raise(int fd);

/* In a process just forked: closes all of ours but `kept`. */
void culex__descriptors_drop(int kept);

#endif
