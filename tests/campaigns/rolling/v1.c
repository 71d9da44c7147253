/* rolling/v1.c - the shop as v1/order.job has it. */
#include "order_job.h"
#include "program.h"

const char version_name[] = "1";

static culex_outcome added_param(culex_run *run, const shop_added_param_job *job, void *user)
{
    (void)run;
    (void)user;
    return tell("added_param", job->n, "to=%s", job->to);
}

static culex_outcome removed_param(culex_run *run, const shop_removed_param_job *job, void *user)
{
    (void)run;
    (void)user;
    return tell("removed_param", job->n, "to=%s note=%s", job->to, job->note);
}

static culex_outcome added_value(culex_run *run, const shop_added_value_job *job, void *user)
{
    (void)run;
    (void)user;
    return tell("added_value", job->n, "lang=%s", shop_lang_name(job->lang));
}

static culex_outcome renamed_param(culex_run *run, const shop_renamed_param_job *job, void *user)
{
    (void)run;
    (void)user;
    return tell("renamed_param", job->n, "nick=%s", job->alias);
}

static culex_outcome renamed_job(culex_run *run, const shop_renamed_job_job *job, void *user)
{
    (void)run;
    (void)user;
    return tell("renamed_job", job->n, "to=%s", job->to);
}

static culex_outcome must(culex_run *run, const shop_must_job *job, void *user)
{
    (void)run;
    (void)user;
    return tell("must", job->n, "to=%s", job->to);
}

static culex_outcome widened(culex_run *run, const shop_widened_job *job, void *user)
{
    (void)run;
    (void)user;
    return tell("widened", job->n, "amount=%d", job->amount);
}

static culex_outcome raised(culex_run *run, const shop_raised_job *job, void *user)
{
    (void)run;
    (void)user;
    return tell("raised", job->n, "text=%s list=%s", job->text,
                list_text(job->list, job->list_len));
}

static culex_outcome relaxed(culex_run *run, const shop_relaxed_job *job, void *user)
{
    (void)run;
    (void)user;
    return tell("relaxed", job->n, "why=%s", job->why);
}

static culex_outcome gone(culex_run *run, const shop_gone_job *job, void *user)
{
    (void)run;
    (void)user;
    return tell("gone", job->n, "-");
}

int version_setup(culex_worker *worker, void *user)
{
    return shop_added_param_job_register(worker, added_param, user) != CULEX_OK ||
           shop_removed_param_job_register(worker, removed_param, user) != CULEX_OK ||
           shop_added_value_job_register(worker, added_value, user) != CULEX_OK ||
           shop_renamed_param_job_register(worker, renamed_param, user) != CULEX_OK ||
           shop_renamed_job_job_register(worker, renamed_job, user) != CULEX_OK ||
           shop_must_job_register(worker, must, user) != CULEX_OK ||
           shop_widened_job_register(worker, widened, user) != CULEX_OK ||
           shop_raised_job_register(worker, raised, user) != CULEX_OK ||
           shop_relaxed_job_register(worker, relaxed, user) != CULEX_OK ||
           shop_gone_job_register(worker, gone, user) != CULEX_OK;
}

/* --- the producer ---------------------------------------------------------------------------- */

#define ENQUEUE(name)                                                                              \
    status =                                                                                       \
        status == CULEX_OK ? shop_##name##_job_enqueue(client, &name, NULL, NULL, error) : status

culex_status version_enqueue(culex_client *client, uint32_t n, culex_error *error)
{
    static const uint8_t list[] = {0, 1, 2, 3};
    culex_status status = CULEX_OK;
    const char *to = text_of("to", n);
    shop_added_param_job added_param = shop_added_param_job_make(n, to);
    shop_removed_param_job removed_param = shop_removed_param_job_make(n, to, text_of("note", n));
    shop_added_value_job added_value = shop_added_value_job_make(n);
    added_value.lang = n % 2 == 0 ? SHOP_LANG_EN : SHOP_LANG_IT;
    shop_renamed_param_job renamed_param = shop_renamed_param_job_make(n);
    renamed_param.alias = text_of("nick", n);
    shop_renamed_job_job renamed_job = shop_renamed_job_job_make(n, to);
    shop_must_job must = shop_must_job_make(n, to);
    shop_widened_job widened = shop_widened_job_make(n, (int16_t)((int)n - 5));
    shop_raised_job raised = shop_raised_job_make(n, text_of("t", n % 10));
    raised.list = list;
    raised.list_len = n % 3;
    shop_relaxed_job relaxed = shop_relaxed_job_make(n, text_of("why", n));
    ENQUEUE(added_param);
    ENQUEUE(removed_param);
    ENQUEUE(added_value);
    ENQUEUE(renamed_param);
    ENQUEUE(renamed_job);
    ENQUEUE(must);
    ENQUEUE(widened);
    ENQUEUE(raised);
    ENQUEUE(relaxed);
    return status;
}

culex_status version_enqueue_gone(culex_client *client, uint32_t n, culex_error *error)
{
    const shop_gone_job job = shop_gone_job_make(n);
    return shop_gone_job_enqueue(client, &job, NULL, NULL, error);
}
