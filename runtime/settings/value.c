#include "settings/value.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "base/error.h"
#include "base/secret_name.h"
#include "core/offer.h"
#include "core/queue_item.h"
#include "core/queue_name.h"
#include "log/log.h"
#include "platform/listening.h"
#include "settings/storesettings.h"
#include "store/storeurl.h"

/* --- what a text means --------------------------------------------------------------------- */

static int64_t unit_ms(const char *unit)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", CULEX_OPTION_DAY_MS}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(unit, units[i].name) == 0)
            return units[i].ms;
    }
    return 0;
}

bool culex__span_parse(const char *text, int64_t *ret_ms)
{
    int64_t whole = 0, thousandths = 0, scale = 100;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && whole < INT64_C(1000000000000); at++)
        whole = whole * 10 + (*at - '0');
    if (at == text)
        return false;
    if (*at == '.') {
        for (at++; *at >= '0' && *at <= '9' && scale > 0; at++, scale /= 10)
            thousandths += (*at - '0') * scale;
        if (scale == 100)
            return false;
    }
    int64_t unit = whole == 0 && thousandths == 0 && *at == '\0' ? 1 : unit_ms(at);
    if (unit == 0 || whole > 10000 * CULEX_OPTION_DAY_MS / unit)
        return false;
    *ret_ms = whole * unit + thousandths * unit / 1000;
    return true;
}

static bool number_parse(const char *text, int64_t *ret_number)
{
    int64_t number = 0;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || number > 1000000000)
            return false;
        number = number * 10 + (*text - '0');
    }
    *ret_number = number;
    return true;
}

/* Which word of "a|b|c" `value` is, from 0; -1 for none. */
static int choice_find(const char *words, const char *value)
{
    size_t len = strlen(value);
    for (int i = 0; len > 0; i++) {
        size_t word = strcspn(words, "|");
        if (word == len && memcmp(words, value, len) == 0)
            return i;
        if (words[word] == '\0')
            break;
        words += word + 1;
    }
    return -1;
}

/* --- one option into the settings ------------------------------------------------------------- */

static void *member(struct culex_settings *settings, const struct culex_option *option)
{
    return (char *)&settings->options + option->offset;
}

static culex_status set_text(struct culex_settings *settings, const struct culex_option *option,
                             const char *from, const char *value, culex_error *error)
{
    if (value[0] == '\0')
        return culex__fail(error, CULEX_EUSAGE, "%s: the value is empty", from);
    if (option->offset == CULEX_OPTION_AT(url) && from[0] == '-' &&
        culex__store_url_has_password(value))
        return culex__fail(error, CULEX_EUSAGE,
                           "%s: every user of this machine can read a password on a command line; "
                           "write the URL into a file (--url-file, mode 0600), or leave the "
                           "password out and put it into CULEX_PASSWORD",
                           from);
    if (option->offset == CULEX_OPTION_AT(prefix) &&
        culex__store_prefix_check(value, error) != CULEX_OK) {
        culex__error_context(error, "%s", from);
        if (error != NULL)
            error->code = CULEX_EUSAGE;
        return CULEX_EUSAGE;
    }
    *(const char **)member(settings, option) = value;
    return CULEX_OK;
}

static culex_status set_address(struct culex_settings *settings, const struct culex_option *option,
                                const char *from, const char *value, culex_error *error)
{
    if (value[0] != '\0' && culex__listening_check(value, error) != CULEX_OK) {
        culex__error_context(error, "%s", from);
        return CULEX_EUSAGE;
    }
    return set_text(settings, option, from, value, error);
}

static culex_status set_number(struct culex_settings *settings, const struct culex_option *option,
                               const char *from, const char *value, culex_error *error)
{
    int64_t number;
    if (!number_parse(value, &number) || number < option->min || number > option->max)
        return culex__fail(error, CULEX_EUSAGE, "%s: '%s' is not a whole number from %d to %d",
                           from, value, (int)option->min, (int)option->max);
    *(unsigned *)member(settings, option) = (unsigned)number;
    return CULEX_OK;
}

static culex_status set_duration(struct culex_settings *settings, const struct culex_option *option,
                                 const char *from, const char *value, culex_error *error)
{
    int64_t ms;
    char min[CULEX_LOG_SPAN_SIZE], max[CULEX_LOG_SPAN_SIZE];
    culex__log_format_span(option->min, min);
    culex__log_format_span(option->max, max);
    if (!culex__span_parse(value, &ms) || ms < option->min || ms > option->max)
        return culex__fail(error, CULEX_EUSAGE,
                           "%s: '%s' is not a time from %s to %s, written like 500ms, 30s or 5m",
                           from, value, min, max);
    /* Zero means the default in the options; only the grace period may be none at all. */
    *(int64_t *)member(settings, option) = ms > 0 ? ms : -1;
    return CULEX_OK;
}

static void words_format(const char *words, char *ret_text, size_t size)
{
    size_t at = 0;
    for (; *words != '\0' && at + 3 < size; words++) {
        if (*words == '|')
            ret_text[at++] = ',';
        ret_text[at++] = *words == '|' ? ' ' : *words;
    }
    ret_text[at] = '\0';
}

static culex_status set_choice(struct culex_settings *settings, const struct culex_option *option,
                               const char *from, const char *value, culex_error *error)
{
    char words[64];
    int choice = choice_find(option->value, value);
    words_format(option->value, words, sizeof words);
    if (choice < 0)
        return culex__fail(error, CULEX_EUSAGE, "%s: '%s' is not one of: %s", from, value, words);
    if (option->offset == CULEX_OPTION_AT(isolation))
        settings->options.isolation = (culex_isolation)(CULEX_ISOLATION_NONE + choice);
    else if (option->offset == CULEX_OPTION_AT(log_format))
        settings->options.log_format = choice == 0 ? CULEX_LOG_TEXT : CULEX_LOG_JSON;
    else if (option->offset == CULEX_OPTION_AT(order))
        settings->options.order = (culex_order)(CULEX_ORDER_TURNS + choice);
    else if (option->offset == CULEX_OPTION_AT(log_level))
        settings->options.log_level = choice + 1;
    else {
        assert(choice < CULEX_SYNCHRONOUS_WORDS);
        settings->options.synchronous = culex__synchronous_words[choice]; /* the value may go */
    }
    return CULEX_OK;
}

/* The next item of a list `a, b`, without the blanks around it; NULL when there is none. */
static char *item_take(char **rest)
{
    char *item = strsep(rest, ",");
    if (item == NULL)
        return NULL;
    item += strspn(item, " \t");
    size_t len = strlen(item);
    while (len > 0 && (item[len - 1] == ' ' || item[len - 1] == '\t'))
        item[--len] = '\0';
    return item;
}

/* A worker's may have weights and bounds, and stand for several. */
static culex_status queues_check(const struct culex_settings *settings,
                                 const struct culex_option *option, size_t count,
                                 culex_error *error)
{
    culex_status status = CULEX_OK;
    if (option->owner == CULEX_OPTION_OF_WORKER)
        return culex__queue_items_check(settings->queues, count, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = culex__queue_check(settings->queues[i], error);
    return status;
}

static culex_status set_queues(struct culex_settings *settings, const struct culex_option *option,
                               const char *from, const char *value, culex_error *error)
{
    size_t count = 0;
    free(settings->queues_text);
    free(settings->queues);
    settings->queues_text = strdup(value);
    settings->queues = calloc(strlen(value) + 1, sizeof *settings->queues);
    if (settings->queues_text == NULL || settings->queues == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for the queue names");
    char *rest = settings->queues_text;
    for (char *name; (name = item_take(&rest)) != NULL;)
        settings->queues[count++] = name;
    if (queues_check(settings, option, count, error) != CULEX_OK) {
        culex__error_context(error, "%s: '%s' is not a list of queues like a,b", from, value);
        if (error != NULL)
            error->code = CULEX_EUSAGE;
        return CULEX_EUSAGE;
    }
    settings->options.queues = settings->queues;
    settings->options.queue_count = count;
    return CULEX_OK;
}

static culex_status offers_check(const struct culex_settings *settings, size_t count,
                                 culex_error *error)
{
    struct culex_needs offers = {.count = 0};
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = culex__offer_add(&offers, settings->offers[i], error);
    return status;
}

static culex_status set_offers(struct culex_settings *settings, const char *value,
                               culex_error *error)
{
    size_t count = 0;
    free(settings->offers_text);
    free(settings->offers);
    settings->offers_text = strdup(value);
    settings->offers = calloc(strlen(value) + 1, sizeof *settings->offers);
    if (settings->offers_text == NULL || settings->offers == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for what is offered");
    char *rest = settings->offers_text;
    for (char *offer; (offer = item_take(&rest)) != NULL;)
        settings->offers[count++] = offer;
    culex_status status = offers_check(settings, count, error);
    if (status != CULEX_OK)
        return status;
    settings->options.offers = settings->offers;
    settings->options.offer_count = count;
    return CULEX_OK;
}

/* On the command line a flag stands alone; its variable says yes or no. */
static culex_status set_flag(struct culex_settings *settings, const struct culex_option *option,
                             const char *from, const char *value, culex_error *error)
{
    int choice = value == NULL ? 0 : choice_find("1|true|yes|on|0|false|no|off", value);
    if (choice < 0)
        return culex__fail(error, CULEX_EUSAGE,
                           "%s: '%s' is not one of: 1, true, yes, on, 0, "
                           "false, no, off",
                           from, value);
    *(bool *)member(settings, option) = choice < 4;
    return CULEX_OK;
}

static culex_status value_set(struct culex_settings *settings, const struct culex_option *option,
                              const char *from, const char *value, culex_error *error)
{
    switch (option->kind) {
    case CULEX_OPTION_TEXT:
        return set_text(settings, option, from, value, error);
    case CULEX_OPTION_DURATION:
        return set_duration(settings, option, from, value, error);
    case CULEX_OPTION_CHOICE:
        return set_choice(settings, option, from, value, error);
#ifdef CULEX_PRODUCER_ONLY
    default: /* of these none is an option there */
        break;
#else
    case CULEX_OPTION_ADDRESS:
        return set_address(settings, option, from, value, error);
    case CULEX_OPTION_QUEUES:
        return set_queues(settings, option, from, value, error);
    case CULEX_OPTION_OFFERS:
        return set_offers(settings, value, error);
    case CULEX_OPTION_NUMBER:
        return set_number(settings, option, from, value, error);
    case CULEX_OPTION_FLAG:
        return set_flag(settings, option, from, value, error);
    case CULEX_OPTION_CONFIG:
        settings->config = value;
        return value[0] != '\0' ? CULEX_OK
                                : culex__fail(error, CULEX_EUSAGE, "%s: the value is empty", from);
    case CULEX_OPTION_CHECK_CONFIG:
        settings->wants_check = true;
        return CULEX_OK;
    case CULEX_OPTION_DOCTOR:
        settings->wants_doctor = true;
        return CULEX_OK;
    case CULEX_OPTION_ENDED:
        settings->wants_ended = true;
        return CULEX_OK;
    case CULEX_OPTION_ALLOW_EMPTY:
        settings->allows_empty = true;
        return CULEX_OK;
    case CULEX_OPTION_HELP:
        settings->wants_help = true;
        return CULEX_OK;
    case CULEX_OPTION_VERSION:
        settings->wants_version = true;
        return CULEX_OK;
#endif
    }
    return CULEX_OK;
}

/* A store's URL belongs where it is given; no refusal of it shows it. */
static bool may_be_shown(const struct culex_option *option, const char *value)
{
    bool is_url = option->kind == CULEX_OPTION_TEXT && option->offset == CULEX_OPTION_AT(url);
    return is_url || value == NULL || !culex__text_is_secret(value);
}

culex_status culex__value_apply(struct culex_settings *settings, const struct culex_option *option,
                                const char *from, const char *value, culex_error *error)
{
    culex_status status = value_set(settings, option, from, value, error);
    if (status == CULEX_OK || status == CULEX_ENOMEM || may_be_shown(option, value))
        return status;
    return culex__fail(error, status,
                       "%s does not take this value, which looks like a URL or a key and is not "
                       "shown",
                       from);
}
