/* child/mailbox.h - the pages of memory that the supervisor shares with one child.
 *
 * Runs get sequence numbers, counted from 1 in each child; run `seq` owns one
 * entry of every array here (culex__mailbox_index) until the supervisor has seen its end. A child
 * takes the runs in order and, for each,
 *   1. stores `started`, then looks at `skip_until`,
 *   2. calls the handler, or skips the run,
 *   3. sends text, result and follow-ups as messages, fills its end, stores `finished`.
 * The supervisor takes runs back by storing `skip_until` and then looking at `started`. As both
 * sides store before they look (sequentially consistent), one of them sees the other: a run
 * that was taken back never starts.
 *
 * A child with a broken heap may write anything here. The supervisor copies a value once,
 * checks the copy, and uses only that; a lie ends the child. Nobody but the supervisor, the
 * zygote and this one child ever has these pages mapped. */
#ifndef CULEX_CHILD_MAILBOX_H
#define CULEX_CHILD_MAILBOX_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs that may be in one child at a time: as many as a step claims. */
enum { CULEX_WINDOW = 256 };

enum { CULEX_CRASH_FRAMES = 48 };

enum culex_mailbox_end_flags {
    CULEX_END_SKIPPED = 1u << 0, /* not started: the supervisor wanted it back, or the child goes */
    CULEX_END_SNOOZED = 1u << 1,
    CULEX_END_NOT_UNDERSTOOD = 1u << 2,
    CULEX_END_TEXT = 1u << 3,      /* a text was sent before */
    CULEX_END_RESULT = 1u << 4,    /* a result was sent before */
    CULEX_END_LAST = 1u << 5,      /* the child wants to be replaced */
    CULEX_END_FOLLOW_UPS = 1u << 6 /* they were sent before */
};

struct culex_mailbox_end {
    uint64_t seq;
    uint32_t event; /* enum culex_run_event, one that a child may tell */
    uint32_t flags;
    uint64_t reports; /* of progress, and lines to keep, sent before */
    int64_t delay_ms;
    int64_t started_ns;
    int64_t duration_ns;
};

/* What a child's signal handler saw. `stage` is stored after the members that it vouches for. */
struct culex_crash_report {
    _Atomic uint32_t stage; /* 0 nothing, 1 all but the frames, 2 everything */
    int32_t signal;
    int32_t code;         /* si_code */
    uint32_t is_at_limit; /* the memory limit was in the way */
    uint64_t address;     /* si_addr, or the sender's pid */
    uint64_t pc;
    uint64_t sp;
    uint32_t frame_count;
    uint64_t frames[CULEX_CRASH_FRAMES]; /* return addresses, innermost first */
};

struct culex_mailbox {
    /* Written by the child. */
    _Atomic uint64_t started;
    _Atomic uint64_t finished;
    struct culex_crash_report crash;

    /* Written by the zygote: the child's process group, 0 once that is dead. Only for the case that
     * the zygote is killed and cannot end the group itself. */
    _Atomic int64_t group;

    /* Written by the supervisor; the zygote reads these two of leases. */
    _Alignas(64) _Atomic uint64_t skip_until;
    _Atomic uint64_t lease_count;             /* of those below that are not 0 */
    _Atomic bool is_trial;                    /* the child says READY when it can take runs */
    _Atomic int64_t lease_ns[CULEX_WINDOW];   /* boot time at which the run must be over; 0 none */
    _Atomic uint64_t cancelled[CULEX_WINDOW]; /* the sequence number to cancel */

    /* Written by the child. What stands above is all that the zygote needs to look at, and all but
     * this fits a page, or little more: most children are at few runs at a time. */
    _Alignas(64) struct culex_mailbox_end ends[CULEX_WINDOW];
};

/* Where run `seq` has its places in the arrays. */
static inline size_t culex__mailbox_index(uint64_t seq)
{
    return (size_t)(seq % CULEX_WINDOW);
}

_Static_assert((CULEX_WINDOW & (CULEX_WINDOW - 1)) == 0, "the place of a run is quickly found");
_Static_assert(sizeof(struct culex_mailbox) <= 5 * 4096, "a mailbox is a few pages");

/* Those of all slots, in memory that supervisor, zygote and children share. */
struct culex_mailboxes {
    char *bytes; /* `count` times `stride` */
    size_t stride;
    size_t count;
};

static inline struct culex_mailbox *culex__mailbox_of(const struct culex_mailboxes *mailboxes,
                                                      size_t slot)
{
    assert(slot < mailboxes->count);
    return (struct culex_mailbox *)(void *)(mailboxes->bytes + slot * mailboxes->stride);
}

#endif
