/* client/claim.c - claiming a run for somebody far away.
 *
 * A look is a STEP that wants one run. One that cannot be handed over is given back with the next
 * STEP of the same session, which claims another. Between looks the thread sleeps outside of the
 * client's turn, and it leaves those out that another one has just taken. */
#include <culex/claims.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/instant.h"
#include "client/claim_rest.h"
#include "client/claim_step.h"
#include "client/claim_token.h"
#include "client/client_private.h"
#include "core/box.h"
#include "core/chain.h"
#include "core/codec_decode.h"
#include "core/end_text.h"
#include "core/queue_name.h"

enum {
    WAIT_MAX_MS = 60 * 60 * 1000,
    ASIDE_MAX = 32, /* runs that one look gives back */
    UNWANTED_MS =
        1000, /* so long at least a run of another job is left to a worker that wants it */
};

struct look {
    const char *queue;
    const culex_claim_options *options;
    int64_t lease_ms;
    int64_t unwanted_ms; /* of the look: how long runs of other jobs wait */
    struct culex_claim_step step;
    struct culex_ack back; /* of a run that is given back, its id zeroes: there is none */
    culex_claim *claim;
};

/* --- what is claimed ------------------------------------------------------------------------- */

static char *text_put(char **at, const char *text, size_t len)
{
    char *put = *at;
    if (len > 0)
        memcpy(put, text, len);
    put[len] = '\0';
    *at += len + 1;
    return put;
}

static void token_put(const struct look *look, const struct culex_run_facts *facts,
                      culex_claim *claim, char **at)
{
    struct culex_claim_token token = {.id = facts->id,
                                      .attempt = facts->attempt,
                                      .claim_ms = facts->claim_ms,
                                      .times_out_ms = claim->times_out_ms,
                                      .lease_ms = look->lease_ms};
    strcpy(token.session, look->step.session);
    strcpy(token.queue, look->queue);
    culex__claim_token_write(&token, *at);
    claim->token = *at;
    *at += CULEX_CLAIM_TOKEN_SIZE;
}

static void times_set(const struct look *look, const struct culex_run_facts *facts,
                      culex_claim *claim)
{
    claim->created_ms = facts->created_at_ms;
    claim->lease_ends_ms = claim->claimed_ms + look->lease_ms;
    if (facts->timeout_ms == 0)
        return;
    claim->times_out_ms = claim->claimed_ms + facts->timeout_ms;
    if (claim->lease_ends_ms > claim->times_out_ms + CULEX_TIMEOUT_SLACK_MS)
        claim->lease_ends_ms = claim->times_out_ms + CULEX_TIMEOUT_SLACK_MS;
}

/* One block: the claim, and behind it its texts. NULL without memory. */
static culex_claim *claim_make(const struct look *look, const struct culex_grant *grant,
                               int64_t claimed_ms)
{
    size_t job_len = strlen(grant->job), queue_len = strlen(look->queue);
    culex_claim *claim = malloc(sizeof *claim + CULEX_CLAIM_TOKEN_SIZE + job_len + 1 + queue_len +
                                1 + grant->payload_len + 1);
    if (claim == NULL)
        return NULL;
    const struct culex_run_counters *counters = &grant->facts.counters;
    *claim = (culex_claim){.id = grant->facts.id,
                           .fingerprint = grant->facts.fingerprint,
                           .attempt = grant->facts.attempt,
                           .failures = counters->failures,
                           .crashes = counters->crashes,
                           .losses = counters->losses,
                           .attempts_max = counters->attempts_max,
                           .claimed_ms = claimed_ms};
    times_set(look, &grant->facts, claim);
    char *at = (char *)(claim + 1);
    token_put(look, &grant->facts, claim, &at);
    claim->job = text_put(&at, grant->job, job_len);
    claim->queue = text_put(&at, look->queue, queue_len);
    claim->payload.data = (uint8_t *)text_put(&at, grant->payload, grant->payload_len);
    claim->payload.len = grant->payload_len;
    return claim;
}

/* --- what is given back ---------------------------------------------------------------------- */

static bool is_wanted(const culex_claim_options *options, const char *job)
{
    for (size_t i = 0; options->jobs != NULL && i < options->job_count; i++) {
        if (strcmp(options->jobs[i], job) == 0)
            return true;
    }
    return options->jobs == NULL;
}

/* Its payload has the member of core/chain.h. A text in it has its quotes escaped, so these bytes
 * are a name. */
static bool is_of_chain(const struct culex_grant *grant)
{
    static const char name[] = "\"!" CULEX_CHAIN_NAME "\":";
    return grant->payload_len > 0 &&
           memmem(grant->payload, grant->payload_len, name, sizeof name - 1) != NULL;
}

/* No producer of ours can have written it, so nobody will ever run it. NULL: somebody may. */
static const char *damage_of(const struct culex_grant *grant)
{
    if (grant->payload_len > CULEX_PAYLOAD_MAX)
        return CULEX__LONG_PAYLOAD_TEXT;
    if (!culex__payload_is_well_formed(grant->payload, grant->payload_len))
        return "the payload cannot be decoded: it is no JSON object";
    return NULL;
}

static bool has_back(const struct look *look)
{
    return look->back.attempt > 0;
}

static void give_back(struct look *look, const struct culex_grant *grant,
                      enum culex_run_event event, int64_t delay_ms, const char *text)
{
    look->back = (struct culex_ack){.id = grant->facts.id,
                                    .attempt = grant->facts.attempt,
                                    .event = event,
                                    .delay_ms = delay_ms,
                                    .text = text,
                                    .claim_ms = grant->facts.claim_ms};
}

/* False: it may be handed over. */
static bool refuse(struct look *look, const struct culex_grant *grant)
{
    const char *damage = damage_of(grant);
    if (damage != NULL)
        give_back(look, grant, CULEX_EVENT_DISCARD, 0, damage);
    else if (!is_wanted(look->options, grant->job))
        give_back(look, grant, CULEX_EVENT_RELEASE, look->unwanted_ms, CULEX__PASSED_BY_TEXT);
    else if (is_of_chain(grant))
        give_back(look, grant, CULEX_EVENT_RELEASE,
                  culex__run_unknown_delay_ms(grant->facts.attempt),
                  CULEX__NOT_UNDERSTOOD_TEXT "a step of a chain is not handed to a claim: a worker "
                                             "that has the chain takes it");
    return has_back(look);
}

static culex_status grant_take(void *arg, const struct culex_step_reply *reply, int64_t ago_ms,
                               culex_error *error)
{
    struct look *look = arg;
    look->back = (struct culex_ack){0};
    if (reply->grant_count == 0)
        return CULEX_OK;
    const struct culex_grant *grant = &reply->grants[0];
    if (refuse(look, grant))
        return CULEX_OK;
    look->claim = claim_make(look, grant, reply->now_ms - ago_ms);
    if (look->claim != NULL)
        return CULEX_OK;
    give_back(look, grant, CULEX_EVENT_RELEASE, 0, NULL);
    return culex__fail(error, CULEX_ENOMEM, "no memory for a claim");
}

/* --- looks ----------------------------------------------------------------------------------- */

static culex_status look_step(culex_client *client, struct look *look, uint32_t want,
                              culex_error *error)
{
    struct culex_ack back = look->back;
    look->step.step = (struct culex_step){.queue = look->queue,
                                          .want = want,
                                          .offers = look->options->offers,
                                          .lease_ms = look->lease_ms,
                                          .acks = &back,
                                          .ack_count = has_back(look) ? 1 : 0};
    return culex__claim_step_perform(client, &look->step, error);
}

/* One for all runs of a look, and for none longer than for those of the next one, so they keep
 * their order. Without chance who gave them back could be the first to meet them again each time.
 */
static int64_t unwanted_draw(const struct culex_env *env)
{
    return UNWANTED_MS + (int64_t)(culex__env_random(env) % CULEX_CLAIM_REST_MS);
}

/* Of its own session: that of the looks before may be in use elsewhere by now. */
static culex_status look_once(culex_client *client, struct look *look, culex_error *error)
{
    culex_error later;
    look->step = (struct culex_claim_step){.take = grant_take, .arg = look};
    look->back = (struct culex_ack){0};
    look->unwanted_ms = unwanted_draw(client->env);
    culex_status status = look_step(client, look, 1, error);
    for (int i = 1; status == CULEX_OK && has_back(look) && i < ASIDE_MAX; i++)
        status = look_step(client, look, 1, error);
    if (!has_back(look))
        return status;
    culex_status given = look_step(client, look, 0, status == CULEX_OK ? error : &later);
    return status == CULEX_OK ? given : status;
}

static culex_status look_wait(culex_client *client, struct look *look, int64_t until_ns,
                              culex_error *error)
{
    const struct culex_env *env = client->env;
    culex_status status = look_once(client, look, error);
    for (;;) {
        int64_t left_ms = (until_ns - culex__env_boottime_ns(env)) / CULEX_MS_NS;
        if (status != CULEX_OK || look->claim != NULL || left_ms <= 0)
            return status;
        env->poll(env->self, NULL, 0,
                  left_ms < CULEX_CLAIM_REST_MS ? (int)left_ms : CULEX_CLAIM_REST_MS);
        if (!culex__claim_may_look(client, look->queue, look->options))
            continue;
        status = look_once(client, look, error);
        if (look->claim != NULL)
            culex__claim_look_again(client, look->queue, look->options);
    }
}

/* --- the calls ------------------------------------------------------------------------------- */

static culex_status jobs_check(const culex_claim_options *options, culex_error *error)
{
    if (options->jobs == NULL)
        return options->job_count == 0
                   ? CULEX_OK
                   : culex__fail(error, CULEX_EINVAL, "options.job_count is set, and no jobs are");
    if (options->job_count == 0)
        return culex__fail(error, CULEX_EINVAL,
                           "options.jobs has no job: leave it NULL to claim runs of all");
    for (size_t i = 0; i < options->job_count; i++) {
        if (options->jobs[i] == NULL)
            return culex__fail(error, CULEX_EINVAL, "options.jobs has a NULL among its names");
    }
    return CULEX_OK;
}

static culex_status wait_check(culex_duration wait, culex_error *error)
{
    if (wait < 0 || wait > WAIT_MAX_MS * CULEX_MS_NS)
        return culex__fail(error, CULEX_EINVAL, "options.wait is up to an hour");
    return culex__client_timeout_check(wait, error);
}

culex_status culex_client_claim(culex_client *client, const char *queue,
                                const culex_claim_options *options, culex_claim **ret_claim,
                                culex_error *error)
{
    const culex_claim_options none = {0};
    struct look look = {.queue = queue, .options = options != NULL ? options : &none};
    if (ret_claim != NULL)
        *ret_claim = NULL;
    culex_status status = culex__claim_client_check(client, error);
    if (status == CULEX_OK && ret_claim == NULL)
        return culex__fail(error, CULEX_EINVAL, "no place for the claim");
    if (status == CULEX_OK)
        status = culex__queue_check(queue, error);
    if (status == CULEX_OK)
        status = jobs_check(look.options, error);
    if (status == CULEX_OK)
        status = wait_check(look.options->wait, error);
    if (status == CULEX_OK)
        status = culex__claim_lease_check(look.options->lease, &look.lease_ms, error);
    if (status != CULEX_OK)
        return status;
    int64_t until_ns = culex__env_boottime_ns(client->env) + look.options->wait;
    status = look_wait(client, &look, until_ns, error);
    *ret_claim = look.claim;
    return status;
}

void culex_claim_free(culex_claim *claim)
{
    free(claim);
}
