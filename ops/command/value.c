#include "command/value.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#include "command/duration.h"
#include "command/fail.h"
#include "command/guess.h"

/* --- numbers ---------------------------------------------------------------------------------- */

/* Passes the digits at *at. False without any, or for more than 63 bits hold. */
static bool digits_take(const char **at, int64_t *ret_number)
{
    const char *from = *at;
    *ret_number = 0;
    for (; isdigit((unsigned char)**at); (*at)++) {
        int digit = **at - '0';
        if (*ret_number > (INT64_MAX - digit) / 10)
            return false;
        *ret_number = *ret_number * 10 + digit;
    }
    return *at > from;
}

culex_status ops_value_count(const char *name, const char *text, uint64_t *ret_count,
                             culex_error *error)
{
    const char *at = text;
    int64_t number;
    if (!digits_take(&at, &number) || *at != '\0')
        return ops_usage(error, "%s: %s is no number", name, text);
    *ret_count = (uint64_t)number;
    return CULEX_OK;
}

/* --- times ------------------------------------------------------------------------------------ */

static bool duration_read(const char *text, culex_duration *ret_duration)
{
    return ops_duration_read(text, strlen(text), ret_duration) && *ret_duration >= 0 &&
           text[0] != '-';
}

culex_status ops_value_duration(const char *name, const char *text, culex_duration *ret_duration,
                                culex_error *error)
{
    if (duration_read(text, ret_duration))
        return CULEX_OK;
    return ops_usage(error,
                     "%s: %s is no time; write numbers with " OPS_DURATION_UNITS ", as 1h30m", name,
                     text);
}

/* Passes a number of `width` digits between `low` and `high`. */
static bool part_take(const char **at, size_t width, int low, int high, int *ret_part)
{
    *ret_part = 0;
    for (size_t i = 0; i < width; i++, (*at)++) {
        if (!isdigit((unsigned char)**at))
            return false;
        *ret_part = *ret_part * 10 + (**at - '0');
    }
    return *ret_part >= low && *ret_part <= high;
}

static bool letter_take(const char **at, char letter)
{
    *at += **at == letter;
    return (*at)[-1] == letter;
}

/* "Z", or how far the clock is ahead of UTC: "+01:00". */
static bool zone_take(const char **at, int *ret_minutes)
{
    int hours, minutes, sign = **at == '-' ? -1 : 1;
    *ret_minutes = 0;
    if (**at == 'Z')
        return *(*at)++ == 'Z';
    if (**at != '+' && **at != '-')
        return false;
    ++*at;
    if (!part_take(at, 2, 0, 14, &hours) || !letter_take(at, ':') ||
        !part_take(at, 2, 0, 59, &minutes))
        return false;
    *ret_minutes = sign * (hours * 60 + minutes);
    return true;
}

/* Behind the day: nothing, which is midnight in UTC, or "T09:30Z", "T09:30:15+01:00". */
static bool clock_take(const char **at, struct tm *when, int *ret_minutes)
{
    *ret_minutes = 0;
    if (**at == '\0')
        return true;
    if (**at != 'T' && **at != ' ')
        return false;
    ++*at;
    if (!part_take(at, 2, 0, 23, &when->tm_hour) || !letter_take(at, ':') ||
        !part_take(at, 2, 0, 59, &when->tm_min))
        return false;
    if (**at == ':') {
        ++*at;
        if (!part_take(at, 2, 0, 59, &when->tm_sec))
            return false;
    }
    return zone_take(at, ret_minutes);
}

static bool day_take(const char **at, struct tm *when)
{
    if (!part_take(at, 4, 1970, 2261, &when->tm_year) || !letter_take(at, '-') ||
        !part_take(at, 2, 1, 12, &when->tm_mon) || !letter_take(at, '-') ||
        !part_take(at, 2, 1, 31, &when->tm_mday))
        return false;
    when->tm_year -= 1900;
    when->tm_mon--;
    return true;
}

static bool instant_read(const char *text, culex_time *ret_time)
{
    const char *at = text;
    struct tm when = {.tm_sec = 0};
    int minutes;
    if (!day_take(&at, &when) || !clock_take(&at, &when, &minutes) || *at != '\0')
        return false;
    int day = when.tm_mday;
    *ret_time = culex_time_from_unix(timegm(&when) - minutes * INT64_C(60));
    return when.tm_mday == day; /* 31 February is in March */
}

culex_status ops_value_time(const char *name, const char *text, culex_time *ret_time,
                            culex_error *error)
{
    culex_duration ago;
    if (duration_read(text, &ago)) {
        *ret_time = culex_time_now() - ago;
        return CULEX_OK;
    }
    return instant_read(text, ret_time)
               ? CULEX_OK
               : ops_usage(error,
                           "%s: %s is no time; write 2h for two hours ago, or "
                           "2026-11-30T09:30:00Z, or with +01:00",
                           name, text);
}

culex_status ops_value_instant(const char *name, const char *text, culex_time *ret_time,
                               culex_error *error)
{
    if (!instant_read(text, ret_time))
        return ops_usage(error,
                         "%s: %s is no time; write 2026-11-30T09:30:00Z, or with +01:00; --delay "
                         "takes a time from now",
                         name, text);
    if (*ret_time < culex_time_now())
        return ops_usage(error, "%s: %s is past; --delay 0s is now", name, text);
    return CULEX_OK;
}

/* --- names ------------------------------------------------------------------------------------ */

static culex_status state_read(const char *name, const char *word, size_t len, unsigned *states,
                               culex_error *error)
{
    struct ops_guess guess = ops_guess_begin(word, len);
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        const char *its = culex_run_state_name((culex_run_state)state);
        if (strlen(its) == len && memcmp(its, word, len) == 0) {
            *states |= CULEX_LIST_STATE(state);
            return CULEX_OK;
        }
        ops_guess_add(&guess, its);
    }
    if (guess.best != NULL)
        return ops_usage(error, "%s: there is no state %.*s; did you mean %s?", name, (int)len,
                         word, guess.best);
    return ops_usage(error,
                     "%s: there is no state %.*s; there are scheduled, waiting, active, done, dead "
                     "and cancelled",
                     name, (int)len, word);
}

culex_status ops_value_states(const char *name, const char *text, unsigned *ret_states,
                              culex_error *error)
{
    *ret_states = 0;
    for (;;) {
        size_t len = strcspn(text, ",");
        culex_status status = state_read(name, text, len, ret_states, error);
        if (status != CULEX_OK || text[len] == '\0')
            return status;
        text += len + 1;
    }
}

culex_status ops_value_queue(const char *name, const char *text, char ret_queue[OPS_QUEUE_SIZE],
                             culex_error *error)
{
    size_t len = strnlen(text, OPS_QUEUE_SIZE);
    if (len == 0)
        return ops_usage(error, "%s: a queue needs a name", name);
    if (len == OPS_QUEUE_SIZE)
        return ops_usage(error, "%s: a queue's name has at most %d letters", name,
                         OPS_QUEUE_SIZE - 1);
    memcpy(ret_queue, text, len + 1);
    return CULEX_OK;
}

culex_status ops_value_run(const char *text, char ret_queue[OPS_QUEUE_SIZE], culex_uuid *ret_id,
                           culex_error *error)
{
    const char *slash = strrchr(text, '/'), *id = slash != NULL ? slash + 1 : text;
    size_t len = slash != NULL ? (size_t)(slash - text) : 0;
    if (len >= OPS_QUEUE_SIZE || !culex_uuid_parse(id, ret_id))
        return ops_usage(error,
                         "%s is no id of a run; write it as culex runs shows it, alone or behind "
                         "its queue and a slash",
                         text);
    memcpy(ret_queue, text, len);
    ret_queue[len] = '\0';
    return CULEX_OK;
}
