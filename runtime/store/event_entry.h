/* store/event_entry.h - what one call to a store tells of runs, as one text; and pages of events.
 *
 * An entry: "LAST|AT|COUNT\n": the position of its last event, when it was, how many they are; then
 * one stretch after the other of events that are alike but for their runs: "K|ATTEMPT|RUNS|JOB\n",
 * with the letter of the kind, and the runs. Entries may stand one behind the other. Those stand in
 * spans of 18 bytes: the id of the first one, and how many have ids that count up from it in their
 * last four bytes, 1 to 65535, with the higher byte first. So what a call does to runs that came in
 * together costs one span, however many they are. Of no run: an id of zeroes, and in place of the
 * attempt how many runs it was. Lua writes the same (redis/lib_events.lua). */
#ifndef CULEX_STORE_EVENT_ENTRY_H
#define CULEX_STORE_EVENT_ENTRY_H

#include <culex/codec.h>

#include "store/store.h"

/* --- writing --------------------------------------------------------------------------------- */

/* The events of a call so far. Zeroes: none. */
struct culex_event_notes {
    culex_buf text; /* stretches; the entry, once it is ended */
    size_t runs_at; /* of the last one: where its number of runs, its job and its spans are */
    size_t job_at;
    size_t spans_at;
    culex_events_kind kind; /* and what else is alike */
    uint32_t number;
    uint64_t runs;  /* of the last one, which its head does not say yet; 0: there is no such */
    uint64_t count; /* of all */
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

enum { CULEX_EVENT_BEFORE_MAX = 4096 };

/* Makes an entry of them, whose last event is `last`, behind the entries `before`, at most
 * BEFORE_MAX bytes: nothing is noted any more until they are cleared. False when out of memory. */
bool culex__event_notes_end(struct culex_event_notes *notes, const char *before, size_t before_len,
                            uint64_t last, int64_t at_ms);

/* --- reading --------------------------------------------------------------------------------- */

/* Where a page behind `after` begins, of a queue whose newest event is `last` and that keeps
 * `kept`. `list` is empty. */
void culex__event_page_begin(struct culex_event_list *list, uint64_t after, uint64_t kept,
                             uint64_t last);
/* Adds events of the entries that are behind the list's position, as long as there are fewer than
 * `most`. What cannot be read, or does not end with `last`, is a gap. Entries come in their order.
 * False when out of memory. */
bool culex__event_entries_add(struct culex_event_list *list, const char *entries, size_t len,
                              uint64_t last, size_t most);
/* When no entry is left behind those that were added. */
void culex__event_page_end(struct culex_event_list *list, size_t most, uint64_t last);
/* Whether they are entries in their order, of which `last` is the last event: for FSCK. */
bool culex__event_entries_are_good(const char *entries, size_t len, uint64_t last);

/* Adds one. False when out of memory. */
bool culex__event_list_add(struct culex_event_list *list, const culex_event *event);
/* Leaves an empty list. */
void culex__event_list_release(struct culex_event_list *list);

#endif
