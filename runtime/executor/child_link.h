/* executor/child_link.h - one child as the supervisor has it: its channel, its mailbox, its
 * runs, and how it is to end.
 *
 * Nothing here waits. What a child says is checked (child_message.h, window.h); the first lie
 * is kept in `wrong`, after which nothing is read from it any more. */
#ifndef CULEX_EXECUTOR_CHILD_LINK_H
#define CULEX_EXECUTOR_CHILD_LINK_H

#include "platform/cgroup.h"
#include "platform/packet.h"
#include "executor/errand_desk.h"
#include "handler/handler_config.h"
#include "child/mailbox.h"
#include "executor/window.h"

enum culex_child_state {
    CULEX_CHILD_FREE,  /* no process: the slot may be used */
    CULEX_CHILD_LIVE,  /* asked for; runs may be sent though it may not have been forked yet */
    CULEX_CHILD_ENDING /* told to end or killed; its runs come back when it has ended */
};

struct culex_child_link {
    enum culex_child_state state;
    size_t slot;
    uint32_t generation;
    int fd; /* our end of the channel, -1 when closed */
    struct culex_mailbox *mailbox;
    struct culex_window window;
    struct culex_errand_desk desk;
    size_t payload_sent;    /* of run window.sent, when that is not all */
    bool is_blocked;        /* the channel is full: wait until it is writable */
    bool is_ready;          /* the program's set-up is done in it; a trial has said so */
    bool is_used;           /* it had a run */
    bool is_spent;          /* it gets no further run */
    bool is_deaf;           /* its end of the channel is closed: it may still be at a run */
    bool is_reset;          /* it died with runs unread; what it sent is read all the same */
    const char *wrong;      /* what it did against the protocol, NULL for nothing */
    const char *killed_why; /* NULL when not by us */
    int pending_signal;     /* still to be sent to it, 0 for none */
    int64_t begun_ns;       /* when it was asked for */
    bool is_unready;        /* it has said that the set-up failed, */
    char unready[128];      /* and why, "" for no reason */
    int64_t ending_ns;      /* since when it is ending */
    uint64_t head_seq;      /* the run that it was last seen at, */
    int64_t head_ns;        /* and since when */
    bool is_oom;            /* it died for want of memory, and not for its own RLIMIT_DATA */

    struct culex_cgroup_ooms ooms; /* of its group, before it was in it */
};

/* Buffers shared by all children of an executor. */
struct culex_child_buffers {
    char out[CULEX_PACKET_MAX];
    char in[CULEX_PACKETS_MAX][CULEX_PACKET_MAX];
};

/* Where ended runs and those that are to be started elsewhere go, and log lines. */
struct culex_child_sink {
    void *self;
    void (*ended)(void *self, struct culex_run *run);
    void (*returned)(void *self, struct culex_run *run); /* not started, newest first */
    void (*line)(void *self, const char *line, size_t len);
};

/* Closes our end of its channel, which may be closed already. */
void culex__child_link_close(struct culex_child_link *child);

/* Gives the child one more run. The window must not be full. */
void culex__child_link_assign(struct culex_child_link *child, struct culex_run *run, bool is_last);

/* Sends an answer and what was assigned, as far as the channel takes it. The jobs of
 * `config` give a run's job its number. */
void culex__child_link_flush(struct culex_child_link *child,
                             const struct culex_handler_config *config,
                             struct culex_child_buffers *buffers);

/* Reads a bounded number of messages and takes the ends that are complete: all that the child has
 * told by now, as far as it is no liar. */
void culex__child_link_receive(struct culex_child_link *child, struct culex_child_buffers *buffers,
                               const struct culex_child_sink *sink, int64_t now_ns);

/* Takes back every run that has not started. */
void culex__child_link_take_back(struct culex_child_link *child,
                                 const struct culex_child_sink *sink);

/* The sequence number of the run that the child is at, 0 for none or when it lies. */
uint64_t culex__child_link_running(const struct culex_child_link *child);

/* The process is dead and everything it said has been received: the run that it died of, or
 * NULL, taken out of the window. */
struct culex_run *culex__child_link_blame(struct culex_child_link *child);

#endif
