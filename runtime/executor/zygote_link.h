/* executor/zygote_link.h - the supervisor's end of its zygote. */
#ifndef CULEX_EXECUTOR_ZYGOTE_LINK_H
#define CULEX_EXECUTOR_ZYGOTE_LINK_H

#include "child/zygote.h"

struct culex_zygote_link {
    const struct culex_process_effects *effects;
    int fd;    /* readable when there are reports; -1 when closed */
    pid_t pid; /* 0: none or buried */
};

/* Forks the zygote. `config` and what it points to must stay; its socket_fd and supervisor_pid
 * are set here. */
culex_status culex__zygote_link_open(struct culex_zygote_link *link,
                                     struct culex_zygote_config *config, culex_error *error);

/* False when the message cannot be sent now (errno); no descriptor is taken. */
bool culex__zygote_link_fork(struct culex_zygote_link *link, size_t slot, uint32_t generation,
                             int channel_fd);
bool culex__zygote_link_signal(struct culex_zygote_link *link, size_t slot, uint32_t generation,
                               int signal);

enum culex_zygote_word { CULEX_ZYGOTE_SILENT, CULEX_ZYGOTE_TOLD, CULEX_ZYGOTE_GONE };

/* One report, when there is one. */
enum culex_zygote_word culex__zygote_link_read(struct culex_zygote_link *link,
                                               struct culex_zygote_report *ret_report);

/* Kills a zygote that has closed its socket or does not answer, and buries it; its children die
 * with it. Writes how it had ended. */
void culex__zygote_link_bury(struct culex_zygote_link *link, char *ret_text, size_t size);

/* Ends the zygote and all that came from it, and waits for that (seconds at most). */
void culex__zygote_link_close(struct culex_zygote_link *link);

#endif
