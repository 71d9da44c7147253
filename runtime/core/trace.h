/* core/trace.h - the trace that a run is of: W3C Trace Context (Recommendation of 23 November
 * 2021), as a text, and as a payload carries it.
 *
 * It is the last member of the outermost object, "culex.trace":"00-...-01", and in front of it may
 * be "culex.tracestate":"...". No field has a '.' in its name, so readers that do not know them
 * skip them: their programs run the run, and only its trace ends there. Being last, they are found
 * without a look at the rest. No key and no digest of a run is made of them: what differs in its
 * trace alone is the same run. */
#ifndef CULEX_CORE_TRACE_H
#define CULEX_CORE_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include <culex/codec.h>
#include <culex/error.h>
#include <culex/types.h>

enum {
    CULEX_TRACE_LEN = 55, /* "00-", 32 digits, '-', 16 digits, '-', two digits */
    CULEX_TRACE_SIZE = CULEX_TRACE_LEN + 1,
    CULEX_SPAN_ID_SIZE = 17, /* 16 digits and a NUL */
    CULEX_TRACE_STATE_MAX = 512,
    CULEX_TRACE_STATE_SIZE = CULEX_TRACE_STATE_MAX + 1
};

struct culex_trace {
    char parent[CULEX_TRACE_SIZE];      /* "": of no trace */
    char state[CULEX_TRACE_STATE_SIZE]; /* "": none */
};

/* `parent` as somebody gives it, `state` may be NULL. CULEX_EINVAL names what is wrong. One of a
 * later version than 00 is read as that version's text tells, and is one of 00 from then on; of the
 * flags only "sampled" is kept. */
culex_status culex__trace_read(const char *parent, const char *state, struct culex_trace *ret_trace,
                               culex_error *error);

/* Puts it into the payload that ends the text, which stays as it is when that has no room for it:
 * a trace is no reason to lose a run. */
void culex__trace_append(const struct culex_trace *trace, culex_buf *text);

/* That of a payload. False, and "" in both, when it has none, or one that is of no use. */
bool culex__trace_find(const void *payload, size_t len, struct culex_trace *ret_trace);

bool culex__trace_is_sampled(const struct culex_trace *trace);

/* Its parent-id; "" where nobody gave one. */
void culex__trace_parent_id(const struct culex_trace *trace, char ret_id[CULEX_SPAN_ID_SIZE]);

/* The first attempt of the run `id`, which nobody gave one, begins a trace that has its id. */
void culex__trace_begin(struct culex_trace *trace, culex_uuid id);

/* Makes the span of an attempt the one that its runs are children of. Its id is made of the
 * attempt's fence, so supervisor and child come to the same without a word. */
void culex__trace_enter(struct culex_trace *trace, const char *fence);

#endif
