#include "client/enqueue_options.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "client/newrun.h"
#include "core/duration.h"
#include "core/run_id.h"
#include "core/ticket.h"
#include "core/timestamp.h"

/* 2001-01-01, long before any store of ours. Seconds, milliseconds and microseconds that were taken
 * for nanoseconds are all in January 1970. */
enum { BEGIN_S = 978307200 };

struct flag {
    bool has, is_set;
    const char *name;
};

/* `whole` is what the caller calls the struct. */
static culex_status flags_check(const char *whole, const struct flag *flags, size_t count,
                                culex_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (flags[i].is_set && !flags[i].has)
            return culex__fail(error, CULEX_EINVAL,
                               "%s.%s is set and %s.has_%s is not, without which it would be "
                               "ignored: set both or neither",
                               whole, flags[i].name, whole, flags[i].name);
    }
    return CULEX_OK;
}

static culex_status marks_check(const culex_enqueue_options *options, culex_error *error)
{
    static const culex_uuid none;
    const struct flag flags[] = {
        {options->has_ticket, memcmp(&options->ticket, &none, sizeof none) != 0, "ticket"},
        {options->has_idempotency_window, options->idempotency_window != 0, "idempotency_window"},
        {options->has_expires, options->expires != 0, "expires"},
    };
    culex_status status = flags_check("options", flags, sizeof flags / sizeof flags[0], error);
    if (status == CULEX_OK && options->tags != NULL && options->tag_count == 0)
        return culex__fail(
            error, CULEX_EINVAL,
            "options.tags is set and options.tag_count is 0, without which they would "
            "be ignored: say how many there are");
    return status;
}

static culex_status ticket_check(culex_uuid text, culex_error *error)
{
    struct culex_ticket ticket;
    struct culex_run_id_parts parts;
    if (culex__ticket_parse(text, &ticket))
        return CULEX_OK;
    return culex__fail(error, CULEX_EINVAL,
                       "options.ticket is %s: a ticket comes from culex_client_new_ticket, or in "
                       "place of an id from a call that was CULEX_EUNKNOWN",
                       culex__run_id_read(text, &parts) ? "the id of a run" : "no ticket");
}

static culex_status key_check(const char *key, size_t count, culex_error *error)
{
    size_t len = strnlen(key, CULEX_STORE_IDEMPOTENCY_MAX + 1);
    if (count > 1)
        return culex__fail(
            error, CULEX_EINVAL,
            "one idempotency key cannot stand for %zu runs: enqueue them one by one, "
            "each with its own, or the call with options.ticket",
            count);
    if (len == 0)
        return culex__fail(error, CULEX_EINVAL,
                           "options.idempotency_key is empty: leave it NULL for none");
    if (len > CULEX_STORE_IDEMPOTENCY_MAX || !culex__utf8_is_line(key, len))
        return culex__fail(error, CULEX_EINVAL,
                           "options.idempotency_key: 1 to %d bytes of UTF-8 without control "
                           "characters",
                           CULEX_STORE_IDEMPOTENCY_MAX);
    return CULEX_OK;
}

static culex_status window_check(const culex_enqueue_options *options, culex_error *error)
{
    culex_duration window = options->idempotency_window;
    if (options->idempotency_key == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           "options.idempotency_window is set and options.idempotency_key is not: "
                           "say which key is to be remembered for so long");
    if (culex__duration_is_slip(window))
        return culex__fail(error, CULEX_EINVAL,
                           "options.idempotency_window is %lld nanoseconds, too short to be meant: "
                           "write culex_seconds(%lld), or culex_minutes, _hours, _days",
                           (long long)window, (long long)window);
    if (window < CULEX_MILLISECOND || window > CULEX_WINDOW_MAX_MS * CULEX_MILLISECOND)
        return culex__fail(error, CULEX_EINVAL,
                           "options.idempotency_window is %s: from 1 ms to culex_days(30)",
                           window < CULEX_MILLISECOND ? "less than 1 ms" : "more than 30 days");
    return CULEX_OK;
}

static culex_status at_check(const char *whole, culex_time at, culex_error *error)
{
    char text[CULEX_TIMESTAMP_TEXT_MAX + 1];
    if (at >= BEGIN_S * CULEX_SECOND && at <= CULEX_INSTANT_MAX_MS * CULEX_MILLISECOND)
        return CULEX_OK;
    text[culex__timestamp_format(at, text)] = '\0';
    if (at >= BEGIN_S * CULEX_SECOND)
        return culex__fail(error, CULEX_EINVAL,
                           "%s.at is %s, which is after 2149: milliseconds where "
                           "culex_time_from_unix takes seconds?",
                           whole, text);
    return culex__fail(error, CULEX_EINVAL,
                       "%s.at is %s, which is before 2001: a culex_time is in nanoseconds; "
                       "culex_time_from_unix(seconds) makes one of what time() returns, and "
                       "culex_time_now() is now",
                       whole, text);
}

static culex_status span_check(const char *whole, const char *name, culex_duration span,
                               culex_error *error)
{
    if (span > CULEX_DELAY_MAX_MS * CULEX_MILLISECOND)
        return culex__fail(error, CULEX_EINVAL,
                           "%s.%s is more than 100 years: milliseconds where seconds are meant?",
                           whole, name);
    if (!culex__duration_is_slip(span))
        return CULEX_OK;
    return culex__fail(error, CULEX_EINVAL,
                       "%s.%s is %lld nanoseconds, too short to be meant: write "
                       "culex_seconds(%lld), or culex_milliseconds, _minutes, _hours, _days",
                       whole, name, (long long)span, (long long)span);
}

static culex_status expires_check(culex_duration expires, culex_error *error)
{
    if (expires < 0)
        return culex__fail(error, CULEX_EINVAL,
                           "options.expires is below 0: it is counted from when the run becomes "
                           "due, and 0 is never");
    return span_check("options", "expires", expires, error);
}

static culex_status priority_check(const char *whole, int priority, culex_error *error)
{
    if (priority >= 0 && priority <= CULEX_PRIORITY_MAX)
        return CULEX_OK;
    return culex__fail(error, CULEX_EINVAL, "%s.priority is %d, and not from 0 to %d", whole,
                       priority, CULEX_PRIORITY_MAX);
}

culex_status culex__move_check(const char *whole, const culex_move *move, culex_error *error)
{
    const struct flag flags[] = {{move->has_delay, move->delay != 0, "delay"},
                                 {move->has_at, move->at != 0, "at"},
                                 {move->has_priority, move->priority != 0, "priority"}};
    culex_status status = flags_check(whole, flags, sizeof flags / sizeof flags[0], error);
    if (status == CULEX_OK && move->has_delay && move->has_at)
        status = culex__fail(error, CULEX_EINVAL,
                             "%s.has_delay and %s.has_at are both set: either a delay or a time",
                             whole, whole);
    if (status == CULEX_OK && move->has_at)
        status = at_check(whole, move->at, error);
    if (status == CULEX_OK && move->has_delay)
        status = span_check(whole, "delay", move->delay, error);
    if (status == CULEX_OK && move->has_priority)
        status = priority_check(whole, move->priority, error);
    return status;
}

culex_status culex__enqueue_options_check(const culex_enqueue_options *options, size_t count,
                                          culex_error *error)
{
    const culex_move place = {.has_delay = options->has_delay,
                              .delay = options->delay,
                              .has_at = options->has_at,
                              .at = options->at,
                              .has_priority = options->has_priority,
                              .priority = options->priority};
    culex_status status = marks_check(options, error);
    if (status == CULEX_OK && options->has_ticket)
        status = ticket_check(options->ticket, error);
    if (status == CULEX_OK && options->idempotency_key != NULL)
        status = key_check(options->idempotency_key, count, error);
    if (status == CULEX_OK && options->has_idempotency_window)
        status = window_check(options, error);
    if (status == CULEX_OK)
        status = culex__move_check("options", &place, error);
    if (status == CULEX_OK && options->has_expires)
        status = expires_check(options->expires, error);
    return status;
}
