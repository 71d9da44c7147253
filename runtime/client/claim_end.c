/* client/claim_end.c - what is said of a claimed run, by the token of its lease: that it goes on,
 * and how it ends. */
#include <culex/claims.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "client/claim_schema.h"
#include "client/claim_step.h"
#include "client/claim_text.h"
#include "client/claim_token.h"
#include "core/end_text.h"
#include "core/run_log.h"

/* What the store says to the one ack or beat of a step. */
struct word {
    struct culex_claim_token token;
    struct culex_claim_step step;
    bool is_beat;
    enum culex_answer answer;
    int64_t said_ms; /* store clock, when it was said or before */
    int64_t now_ms;  /* store clock */
};

static culex_status answer_take(void *arg, const struct culex_step_reply *reply, int64_t ago_ms,
                                culex_error *error)
{
    struct word *word = arg;
    (void)error;
    word->answer = word->is_beat ? reply->beats[0] : reply->acks[0];
    word->now_ms = reply->now_ms;
    word->said_ms = reply->now_ms - ago_ms;
    return CULEX_OK;
}

/* Behind a first try of which nobody knows, the refusal may be that try's own doing. */
static culex_status unknown_tell(culex_error *error)
{
    return culex__fail(error, CULEX_EUNKNOWN,
                       "the lease is over or the run is gone; it may be by this very call, whose "
                       "first answer was lost");
}

static culex_status gone_tell(const struct word *word, const char *id, culex_error *error)
{
    return culex__fail(error, CULEX_ENOTFOUND,
                       "queue %s has no run %s any more: it has ended and its record is "
                       "forgotten, or somebody has deleted it",
                       word->token.queue, id);
}

static culex_status conflict_tell(const struct word *word, culex_error *error)
{
    char id[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(word->token.id, id);
    return culex__fail(error, CULEX_ECONFLICT,
                       "run %s has already ended with another result: attempt %u was completed, "
                       "and that stands; drop what is said now",
                       id, (unsigned)word->token.attempt);
}

static culex_status refusal_tell(const struct word *word, culex_error *error)
{
    char id[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(word->token.id, id);
    if (word->step.was_repeated && !word->is_beat)
        return unknown_tell(error);
    if (word->answer == CULEX_ANSWER_GONE)
        return gone_tell(word, id, error);
    return culex__fail(error, CULEX_ESTALE,
                       "attempt %u of run %s does not hold it any more: it has ended, or its lease "
                       "was over and another may have the run; drop the result",
                       (unsigned)word->token.attempt, id);
}

static culex_status word_say(culex_client *client, struct word *word, culex_error *error)
{
    word->step.take = answer_take;
    word->step.arg = word;
    word->step.step.queue = word->token.queue;
    strcpy(word->step.session, word->token.session);
    culex_status status = culex__claim_step_perform(client, &word->step, error);
    if (status != CULEX_OK)
        return status;
    bool is_refused = word->answer == CULEX_ANSWER_STALE || word->answer == CULEX_ANSWER_GONE;
    return is_refused ? refusal_tell(word, error) : CULEX_OK;
}

static culex_status word_begin(const culex_client *client, const char *token, struct word *ret_word,
                               culex_error *error)
{
    *ret_word = (struct word){.is_beat = false};
    culex_status status = culex__claim_client_check(client, error);
    return status == CULEX_OK ? culex__claim_token_read(token, &ret_word->token, error) : status;
}

/* --- it goes on ------------------------------------------------------------------------------ */

static culex_status progress_write(culex_client *client, const struct culex_claim_token *token,
                                   const culex_claim_beat *beat,
                                   char ret_text[CULEX_PROGRESS_MAX + 1], culex_error *error)
{
    enum { TEXT_MAX = 250 };
    char clean[TEXT_MAX + 1] = "";
    culex_status status = CULEX_OK;
    if (beat->progress < -1 || beat->progress > 100)
        return culex__fail(error, CULEX_EINVAL,
                           "a progress of %d: it is a number of percent, or -1 for unknown",
                           beat->progress);
    if (beat->progress_text != NULL && beat->progress_text[0] != '\0')
        status = culex__claim_text_hide(client, token, NULL, beat->progress_text, clean,
                                        sizeof clean, error);
    snprintf(ret_text, CULEX_PROGRESS_MAX + 1, "%d %s", beat->progress, clean);
    return status;
}

static culex_claim_pulse pulse_make(const struct word *word, int64_t lease_ms)
{
    int64_t times_out_ms = word->token.times_out_ms;
    culex_claim_pulse pulse = {CULEX_CLAIM_GO_ON, word->said_ms + lease_ms};
    if (times_out_ms > 0 && pulse.lease_ends_ms > times_out_ms + CULEX_TIMEOUT_SLACK_MS)
        pulse.lease_ends_ms = times_out_ms + CULEX_TIMEOUT_SLACK_MS;
    if (times_out_ms > 0 && word->now_ms >= times_out_ms)
        pulse.order = CULEX_CLAIM_TIME_OUT;
    if (word->answer == CULEX_ANSWER_CANCEL)
        pulse.order = CULEX_CLAIM_CANCEL;
    return pulse;
}

/* Who has asked for five minutes once is not to be held to less by what it says of its progress. */
static culex_status beat_lease_check(const culex_claim_beat *beat,
                                     const struct culex_claim_token *token, int64_t *ret_lease_ms,
                                     culex_error *error)
{
    if (beat->lease != 0)
        return culex__claim_lease_check(beat->lease, ret_lease_ms, error);
    *ret_lease_ms = token->lease_ms;
    return CULEX_OK;
}

culex_status culex_claim_heartbeat(culex_client *client, const char *token,
                                   const culex_claim_beat *beat, culex_claim_pulse *ret_pulse,
                                   culex_error *error)
{
    const culex_claim_beat none = {0};
    char progress[CULEX_PROGRESS_MAX + 1];
    struct word word;
    int64_t lease_ms = 0;
    if (beat == NULL)
        beat = &none;
    culex_status status = word_begin(client, token, &word, error);
    if (status == CULEX_OK && ret_pulse == NULL)
        return culex__fail(error, CULEX_EINVAL, "no place for the pulse");
    if (status == CULEX_OK)
        status = beat_lease_check(beat, &word.token, &lease_ms, error);
    if (status == CULEX_OK && beat->has_progress)
        status = progress_write(client, &word.token, beat, progress, error);
    if (status != CULEX_OK)
        return status;
    const struct culex_beat said = {.id = word.token.id,
                                    .attempt = word.token.attempt,
                                    .is_started = true,
                                    .progress = beat->has_progress ? progress : NULL};
    word.is_beat = true;
    word.step.step = (struct culex_step){.lease_ms = lease_ms, .beats = &said, .beat_count = 1};
    status = word_say(client, &word, error);
    if (status == CULEX_OK)
        *ret_pulse = pulse_make(&word, lease_ms);
    return status;
}

/* --- it ends --------------------------------------------------------------------------------- */

static culex_status ack_say(culex_client *client, struct word *word, const struct culex_ack *ack,
                            culex_error *error)
{
    struct culex_ack said = *ack;
    said.id = word->token.id;
    said.attempt = word->token.attempt;
    said.claim_ms = word->token.claim_ms;
    word->step.step = (struct culex_step){.acks = &said, .ack_count = 1};
    culex__claim_text_end(client, said.id);
    return word_say(client, word, error);
}

/* This attempt was completed before. The store does not look at what is said again. */
static culex_status repeat_judge(culex_client *client, const struct word *word, const void *result,
                                 size_t len, culex_error *error)
{
    char id[CULEX_UUID_TEXT_SIZE];
    bool is_same;
    culex_status status =
        culex__claim_result_compare(client, &word->token, result, len, &is_same, error);
    culex_uuid_format(word->token.id, id);
    if (status == CULEX_ENOTFOUND)
        return gone_tell(word, id, error);
    return status != CULEX_OK || is_same ? status : conflict_tell(word, error);
}

/* Any end but a completion. Refused behind one it is told so, for that is no matter of leases. */
static culex_status end_say(culex_client *client, struct word *word, const struct culex_ack *ack,
                            culex_error *error)
{
    culex_status status = ack_say(client, word, ack, error);
    if (word->answer == CULEX_ANSWER_STALE && culex__claim_is_complete(client, &word->token))
        return conflict_tell(word, error);
    return status;
}

culex_status culex_claim_complete(culex_client *client, const char *token, const void *result,
                                  size_t len, culex_error *error)
{
    struct word word;
    culex_status status = word_begin(client, token, &word, error);
    if (status == CULEX_OK && result != NULL)
        status = culex__claim_result_check(client, &word.token, result, len, error);
    const struct culex_ack done = {
        .event = CULEX_EVENT_DONE, .result = result, .result_len = result != NULL ? len : 0};
    if (status == CULEX_OK)
        status = ack_say(client, &word, &done, error);
    return status == CULEX_OK && word.answer == CULEX_ANSWER_REPEATED
               ? repeat_judge(client, &word, result, len, error)
               : status;
}

static culex_status delay_check(culex_duration delay, int64_t *ret_delay_ms, culex_error *error)
{
    if (delay < 0 || delay / CULEX_MILLISECOND > CULEX_DELAY_MAX_MS)
        return culex__fail(error, CULEX_EINVAL, "no delay");
    *ret_delay_ms = delay / CULEX_MILLISECOND;
    return culex__client_timeout_check(delay, error);
}

/* What is told of a failure, and when the next attempt is. The run is read once for both. */
static culex_status failure_tell(culex_client *client, const struct culex_claim_token *token,
                                 const culex_claim_failure *failure, struct culex_ack *ack,
                                 char ret_text[CULEX_CLAIM_TEXT_MAX + 1], culex_error *error)
{
    struct culex_claim_subject subject = {NULL, NULL};
    bool is_read = !failure->is_final && !failure->has_delay;
    culex_status status =
        is_read ? culex__claim_subject_read(client, token, &subject, error) : CULEX_OK;
    if (status != CULEX_OK)
        return status;
    if (is_read)
        ack->delay_ms = culex__claim_backoff_ms(client, &subject);
    if (failure->text != NULL && failure->text[0] != '\0')
        status = culex__claim_text_hide(client, token, is_read ? &subject : NULL, failure->text,
                                        ret_text, CULEX_CLAIM_TEXT_MAX + 1, error);
    culex__claim_subject_release(&subject);
    return status;
}

/* As a worker does; but how many lines the run's job keeps, nobody may know here. */
static void failure_keep(const culex_client *client, struct culex_ack *failed, uint32_t attempt,
                         char line[CULEX_KEPT_LINE_SIZE])
{
    size_t len = culex__failure_line_write(line, culex__env_clock_ms(client->env), attempt,
                                           failed->event, failed->text);
    failed->log = (struct culex_log_lines){line, len, CULEX_RUN_LINES_MAX};
}

static culex_status failure_check(const culex_claim_failure *failure, int64_t *ret_delay_ms,
                                  culex_error *error)
{
    *ret_delay_ms = 0;
    if (failure->is_final && failure->has_delay)
        return culex__fail(error, CULEX_EINVAL,
                           "a failure that is final has no delay: nothing comes after it");
    return failure->has_delay ? delay_check(failure->delay, ret_delay_ms, error) : CULEX_OK;
}

culex_status culex_claim_fail(culex_client *client, const char *token,
                              const culex_claim_failure *failure, culex_error *error)
{
    const culex_claim_failure none = {0};
    char text[CULEX_CLAIM_TEXT_MAX + 1] = CULEX__NO_REASON_TEXT;
    char line[CULEX_KEPT_LINE_SIZE];
    struct culex_ack failed = {.text = text};
    struct word word;
    if (failure == NULL)
        failure = &none;
    failed.event = failure->is_final ? CULEX_EVENT_DISCARD : CULEX_EVENT_FAIL;
    if (failure->text != NULL && failure->text[0] == '\0')
        text[0] = '\0';
    culex_status status = word_begin(client, token, &word, error);
    if (status == CULEX_OK)
        status = failure_check(failure, &failed.delay_ms, error);
    if (status == CULEX_OK)
        status = failure_tell(client, &word.token, failure, &failed, text, error);
    if (status == CULEX_OK)
        failure_keep(client, &failed, word.token.attempt, line);
    return status == CULEX_OK ? end_say(client, &word, &failed, error) : status;
}

culex_status culex_claim_release(culex_client *client, const char *token, culex_duration delay,
                                 culex_error *error)
{
    struct word word;
    int64_t delay_ms = 0;
    culex_status status = word_begin(client, token, &word, error);
    if (status == CULEX_OK)
        status = delay_check(delay, &delay_ms, error);
    const struct culex_ack released = {
        .event = CULEX_EVENT_RELEASE, .delay_ms = delay_ms, .has_begun = true};
    return status == CULEX_OK ? end_say(client, &word, &released, error) : status;
}
