/* rolling/v2.c - the shop as v2/order.job has it. */
#include "order_job.h"
#include "program.h"

const char version_name[] = "2";

static culex_outcome added_param(culex_run *run, const shop_added_param_job *job, void *user)
{
    (void)run;
    (void)user;
    return tell("added_param", job->n, "to=%s cc=%s from=%s", job->to, job->has_cc ? job->cc : "-",
                job->from);
}

static culex_outcome removed_param(culex_run *run, const shop_removed_param_job *job, void *user)
{
    (void)run;
    (void)user;
    return tell("removed_param", job->n, "to=%s", job->to);
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
    return tell("renamed_param", job->n, "nick=%s", job->nick);
}

static culex_outcome second_name(culex_run *run, const shop_second_name_job *job, void *user)
{
    (void)run;
    (void)user;
    return tell("renamed_job", job->n, "to=%s", job->to);
}

static culex_outcome must(culex_run *run, const shop_must_job *job, void *user)
{
    (void)run;
    (void)user;
    return tell("must", job->n, "to=%s tenant=%u", job->to, (unsigned)job->tenant);
}

static culex_outcome widened(culex_run *run, const shop_widened_job *job, void *user)
{
    (void)run;
    (void)user;
    return tell("widened", job->n, "amount=%d", (int)job->amount);
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
    return tell("relaxed", job->n, "why=%s", job->has_why ? job->why : "-");
}

static culex_outcome added_job(culex_run *run, const shop_added_job_job *job, void *user)
{
    (void)run;
    (void)user;
    return tell("added_job", job->n, "to=%s", job->to);
}

int version_setup(culex_worker *worker, void *user)
{
    return shop_added_param_job_register(worker, added_param, user) != CULEX_OK ||
           shop_removed_param_job_register(worker, removed_param, user) != CULEX_OK ||
           shop_added_value_job_register(worker, added_value, user) != CULEX_OK ||
           shop_renamed_param_job_register(worker, renamed_param, user) != CULEX_OK ||
           shop_second_name_job_register(worker, second_name, user) != CULEX_OK ||
           shop_must_job_register(worker, must, user) != CULEX_OK ||
           shop_widened_job_register(worker, widened, user) != CULEX_OK ||
           shop_raised_job_register(worker, raised, user) != CULEX_OK ||
           shop_relaxed_job_register(worker, relaxed, user) != CULEX_OK ||
           shop_added_job_job_register(worker, added_job, user) != CULEX_OK ||
           culex_worker_retire(worker, &shop_gone_job_type) != CULEX_OK;
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
    added_param.has_cc = n % 2 == 1;
    added_param.cc = added_param.has_cc ? text_of("cc", n) : NULL;
    if (n % 3 == 0)
        added_param.from = text_of("from", n);
    shop_removed_param_job removed_param = shop_removed_param_job_make(n, to);
    shop_added_value_job added_value = shop_added_value_job_make(n);
    added_value.lang = (shop_lang)(SHOP_LANG_EN + n % 3);
    shop_renamed_param_job renamed_param = shop_renamed_param_job_make(n);
    renamed_param.nick = text_of("nick", n);
    shop_second_name_job second_name = shop_second_name_job_make(n, to);
    shop_must_job must = shop_must_job_make(n, to);
    must.tenant = n + 100;
    shop_widened_job widened = shop_widened_job_make(n, (int32_t)(n % 2 == 0 ? n : 100000 + n));
    shop_raised_job raised = shop_raised_job_make(n, text_of(n % 2 == 0 ? "t" : "text", n % 10));
    raised.list = list;
    raised.list_len = n % 5;
    shop_relaxed_job relaxed = shop_relaxed_job_make(n);
    relaxed.has_why = n % 2 == 0;
    relaxed.why = relaxed.has_why ? text_of("why", n) : NULL;
    shop_added_job_job added_job = shop_added_job_job_make(n, to);
    ENQUEUE(added_param);
    ENQUEUE(removed_param);
    ENQUEUE(added_value);
    ENQUEUE(renamed_param);
    ENQUEUE(second_name);
    ENQUEUE(must);
    ENQUEUE(widened);
    ENQUEUE(raised);
    ENQUEUE(relaxed);
    ENQUEUE(added_job);
    return status;
}

/* It is retired: nobody enqueues it any more, and a C compiler says so. */
culex_status version_enqueue_gone(culex_client *client, uint32_t n, culex_error *error)
{
    (void)client;
    (void)n;
    (void)error;
    return CULEX_EUNSUPPORTED;
}
