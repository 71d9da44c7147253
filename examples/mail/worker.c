/* mail/worker.c - "delivers" mail. Addresses at bounce.example never arrive (retried, then
 * dead), addresses at nowhere.example are refused for good (dead at once). */
#include <stdio.h>
#include <string.h>

#include "mail_job.h"

static bool address_is_at(const char *address, const char *domain)
{
    const char *at = strrchr(address, '@');
    return at != NULL && strcmp(at + 1, domain) == 0;
}

static culex_outcome send_email(culex_run *run, const shop_send_email_job *job, void *user)
{
    (void)user;
    if (address_is_at(job->to, "nowhere.example"))
        return culex_run_discard(run, "550 no such domain");
    culex_run_log(run, CULEX_LOG_INFO, "the server of %s answers", job->to);
    if (address_is_at(job->to, "bounce.example"))
        return culex_run_fail(run, "450 mailbox of %s is busy", job->to);

    printf("%s -> %s: %s (%s, %zu in copy)\n", job->from, job->to, job->subject,
           shop_urgency_name(job->urgency), job->cc_len);
    fflush(stdout);

    char message_id[64];
    snprintf(message_id, sizeof message_id, "<%u.%lld@shop.example>", culex_run_attempt(run),
             (long long)culex_run_enqueued_at(run));
    shop_send_email_result result = shop_send_email_result_make(message_id);
    if (shop_send_email_job_set_result(run, &result, NULL) != CULEX_OK)
        culex_log(run, "the message id is lost");
    return CULEX_DONE;
}

static int setup(culex_worker *worker, void *user)
{
    return shop_send_email_job_register(worker, send_email, user);
}

int main(int argc, char **argv)
{
    return culex_worker_main(argc, argv, setup, NULL);
}
