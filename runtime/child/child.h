/* child/child.h - the process in which handlers run. */
#ifndef CULEX_CHILD_CHILD_H
#define CULEX_CHILD_CHILD_H

#include "child/zygote.h"

/* The whole life of a child, in the process just forked by the zygote: takes runs from
 * `channel_fd` until that is closed. */
_Noreturn void culex__child_main(const struct culex_zygote_config *config, size_t slot,
                                 int channel_fd, pid_t zygote_pid);

#endif
