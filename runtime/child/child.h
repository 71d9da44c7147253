/* child/child.h - the process in which handlers run. */
#ifndef CULEX_CHILD_CHILD_H
#define CULEX_CHILD_CHILD_H

#include <sys/types.h>

#include "child/mailbox.h"
#include "handler/handler_config.h"
#include "platform/cgroup.h"

/* What a child begins with. */
struct culex_child_start {
    const struct culex_handler_config *handler;
    const struct culex_mailboxes *mailboxes;
    const struct culex_cgroup *cgroup;
    size_t slot;
    int channel_fd;
    pid_t zygote_pid;
};

/* The whole life of a child, in the process just forked by the zygote: takes runs from
 * its channel until that is closed. */
_Noreturn void culex__child_main(const struct culex_child_start *start);

#endif
