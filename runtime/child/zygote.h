/* child/zygote.h - the process that forks the children, buries them, and guards their leases.
 *
 * Forked before the supervisor has a connection or a secret, so its children have none either.
 * It stays small, has one thread, and does what the supervisor asks by message:
 *   fork     a child for a slot, with the child's end of its channel
 *   signal   the child in a slot, and its process group
 * It tells when a child has ended (its group is dead by then), and by itself
 *   - kills the group of a child whose mailbox says that its lease is over,
 *   - kills every process that a dead child left behind (it is their subreaper, and where there is
 *     a control group it empties that),
 *   - kills everything and ends when the supervisor is gone. */
#ifndef CULEX_CHILD_ZYGOTE_H
#define CULEX_CHILD_ZYGOTE_H

#include "child/mailbox.h"
#include "handler/handler_config.h"
#include "platform/cgroup.h"
#include "platform/process_effects.h"

enum culex_zygote_request_type { CULEX_ZYGOTE_FORK = 1, CULEX_ZYGOTE_SIGNAL };

struct culex_zygote_request {
    uint32_t type;
    uint32_t slot;
    uint32_t generation; /* of the child in the slot; a request for an earlier one is ignored */
    int32_t signal;
};

enum culex_zygote_report_type { CULEX_ZYGOTE_ENDED = 1, CULEX_ZYGOTE_NOT_FORKED };

struct culex_zygote_report {
    uint32_t type;
    uint32_t slot;
    uint32_t generation;
    int32_t code;         /* CLD_EXITED, CLD_KILLED, CLD_DUMPED; NOT_FORKED: errno */
    int32_t status;       /* exit status or signal */
    uint32_t is_overtime; /* killed by the zygote at the end of its lease */
    int64_t at_ns; /* boot time at which the zygote saw it; the supervisor may hear it late */
};

struct culex_zygote_config {
    const struct culex_handler_config *handler;
    const struct culex_process_effects *effects;
    const struct culex_cgroup *cgroup;
    struct culex_mailboxes mailboxes; /* one for each slot */
    int socket_fd;                    /* to the supervisor */
    pid_t supervisor_pid;
};

/* The whole life of the zygote, in the process just forked, with all signals blocked. */
_Noreturn void culex__zygote_main(const struct culex_zygote_config *config);

#endif
