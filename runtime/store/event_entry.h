/* store/event_entry.h - what one call to a store tells of runs, as one text; and pages of events.
 *
 * An entry: "LAST|AT|COUNT\n": the position of its last event, when it was, how many they are; then
 * one stretch after the other of events that are alike but for their runs: "K|ATTEMPT|RUNS|JOB\n",
 * with the letter of the kind, and the runs. Those stand in spans of 18 bytes: the id of the first
 * one, and how many have ids that count up from it in their last four bytes, 1 to 65535, with the
 * higher byte first. So what a call does to runs that came in together costs one span, however many
 * they are. Of no run: an id of zeroes, and in place of the attempt how many runs it was. Lua
 * writes the same (redis/lib_events.lua). */
#ifndef CULEX_STORE_EVENT_ENTRY_H
#define CULEX_STORE_EVENT_ENTRY_H

#include <culex/codec.h>

#include "store/store.h"

enum { CULEX_EVENT_HEAD_SIZE = 64 }; /* of an entry's first line, with a NUL */

/* --- writing --------------------------------------------------------------------------------- */

/* The events of a call so far. Zeroes: none. */
struct culex_event_notes {
    culex_buf text; /* stretches */
    size_t runs_at; /* of the last one: where its number of runs, its job and its spans are */
    size_t job_at;
    size_t spans_at;
    culex_events_kind kind; /* and what else is alike */
    uint32_t number;
    uint64_t runs;
    uint64_t count;
    bool is_out_of_memory;
};

/* A span of one run, or of more. */
enum { CULEX_EVENT_SPAN_SIZE = 18, CULEX_EVENT_SPAN_MAX = 65535 };

/* Adds a run to the `len` bytes of spans that there are, behind which is room for one. Returns how
 * many bytes there are then. */
size_t culex__event_span_add(unsigned char *spans, size_t len, const culex_uuid *id);

/* `job` may be NULL. What there is no memory for is told by is_out_of_memory. */
void culex__event_note(struct culex_event_notes *notes, culex_events_kind kind, uint32_t number,
                       const culex_uuid *id, const char *job);
/* None any more; the memory stays. */
void culex__event_notes_clear(struct culex_event_notes *notes);
void culex__event_notes_release(struct culex_event_notes *notes);

/* Room for `more` bytes behind the stretches. False when out of memory. */
bool culex__event_notes_reserve(struct culex_event_notes *notes, size_t more);

/* The first line. Returns how long it is. */
size_t culex__event_head_write(uint64_t last, int64_t at_ms, uint64_t count,
                               char ret_head[CULEX_EVENT_HEAD_SIZE]);

/* --- reading --------------------------------------------------------------------------------- */

/* Where a page behind `after` begins, of a queue whose newest event is `last` and that keeps
 * `kept`. `list` is empty. */
void culex__event_page_begin(struct culex_event_list *list, uint64_t after, uint64_t kept,
                             uint64_t last);
/* Adds events of the entry that are behind the list's position, as long as there are fewer than
 * `most`. One that cannot be read, or is not `last`, is a gap. Entries come in their order. False
 * when out of memory. */
bool culex__event_entry_add(struct culex_event_list *list, const char *entry, size_t len,
                            uint64_t last, size_t most);
/* When no entry is left behind those that were added. */
void culex__event_page_end(struct culex_event_list *list, size_t most, uint64_t last);
/* Whether it is an entry whose last event is `last`: for FSCK. */
bool culex__event_entry_is_good(const char *entry, size_t len, uint64_t last);

/* Adds one. False when out of memory. */
bool culex__event_list_add(struct culex_event_list *list, const culex_event *event);
/* Leaves an empty list. */
void culex__event_list_release(struct culex_event_list *list);

#endif
