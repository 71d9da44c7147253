/* child/child_message.h - packets between the supervisor and a child, and their validation.
 *
 * Both directions use one SOCK_SEQPACKET socket. A packet to the child is one or more records,
 * each aligned to 8 bytes: runs with their payload, or further bytes of a long payload. A
 * packet from the child is exactly one record, and is treated like a message from an enemy. */
#ifndef CULEX_CHILD_CHILD_MESSAGE_H
#define CULEX_CHILD_CHILD_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "handler/execution.h"

enum { CULEX_PACKET_MAX = 32 * 1024 };

enum culex_record_type {
    /* To the child. */
    CULEX_RECORD_RUN = 1,
    CULEX_RECORD_PAYLOAD, /* more of the payload of the run before */
    /* From the child. */
    CULEX_RECORD_WAKE,     /* look at the mailbox */
    CULEX_RECORD_LOG,      /* one line with its newline */
    CULEX_RECORD_PROGRESS, /* text */
    CULEX_RECORD_EXTEND,   /* struct culex_record_extend */
    CULEX_RECORD_TEXT,     /* the error text */
    CULEX_RECORD_RESULT,   /* struct culex_record_part, bytes of the result */
    CULEX_RECORD_READY,    /* the program's set-up is done, or a trial has begun well */
    CULEX_RECORD_UNREADY,  /* text: why it failed; the child ends */
    CULEX_RECORD_ERRAND,   /* struct culex_record_errand, its bytes */
    /* To the child again. */
    CULEX_RECORD_ANSWER, /* struct culex_record_errand, bytes of the answer; alone in its packet */
    /* From the child again. */
    CULEX_RECORD_FOLLOW_UPS, /* as RESULT, of its follow-ups (handler/follow_up.h) */
    CULEX_RECORD_KEPT        /* a log line that the run is to keep (core/run_log.h) */
};

struct culex_record {
    uint32_t type;
    uint32_t len; /* bytes that follow */
    uint64_t seq; /* the run */
};

struct culex_record_extend {
    int64_t extend_ms;
};

struct culex_record_part {
    uint32_t total;
    uint32_t offset;
};

/* A part of an errand (errand.h) or of its answer. */
struct culex_record_errand {
    uint32_t number; /* of the errand in this child; changes with each */
    uint32_t total;
    uint32_t offset;
};

enum {
    CULEX_ERRAND_PART_MAX =
        CULEX_PACKET_MAX - sizeof(struct culex_record) - sizeof(struct culex_record_errand)
};

/* What a child must know of a run; its payload's first bytes follow. */
struct culex_record_run {
    uint32_t job; /* index in the executor's jobs */
    uint32_t payload_len;
    struct culex_run_facts facts;
    struct culex_run_terms terms;
    bool is_last; /* the child ends after it */
};

/* A record from a child that has the right form. `bytes` points into the packet. */
struct culex_child_message {
    enum culex_record_type type;
    uint64_t seq;
    const char *bytes;
    size_t len;
    size_t total;    /* RESULT, FOLLOW_UPS, ERRAND */
    size_t offset;   /* the same */
    uint32_t number; /* ERRAND */
    int64_t extend_ms;
};

/* NULL and *ret_message, or what is wrong with the packet: a constant text. Texts are valid UTF-8,
 * within their limits, without control characters but a log line's newline at its end. */
const char *culex__child_message_parse(const void *packet, size_t len,
                                       struct culex_child_message *ret_message);

static inline size_t culex__record_padded(size_t len)
{
    return (len + 7) & ~(size_t)7;
}

#endif
