/* fuzz_text - any bytes as the text of a duration, timestamp, UUID, integer, float, needs or
 * base64: refused, or read to a value whose own text reads back as that value; and JSON's numbers
 * by a second reading of their grammar. */
#include <stdlib.h>
#include <string.h>

#include "core/base64.h"
#include "core/duration.h"
#include "core/float.h"
#include "core/json.h"
#include "core/needs.h"
#include "core/number.h"
#include "core/run_id.h"
#include "core/ticket.h"
#include "core/timestamp.h"
#include "core/uuid.h"
#include "fuzz.h"

enum { TEXT_MAX = 512 };

unsigned fuzz_taken;

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void duration_check(const char *text, size_t len)
{
    culex_duration value, again;
    char out[CULEX_DURATION_TEXT_MAX];
    if (!culex__duration_parse(text, len, &value))
        return;
    fuzz_taken++;
    size_t used = culex__duration_format(value, out);
    require(used <= sizeof out && culex__duration_parse(out, used, &again) && again == value);
}

static void timestamp_check(const char *text, size_t len)
{
    culex_time value, again;
    char out[CULEX_TIMESTAMP_TEXT_MAX];
    if (!culex__timestamp_parse(text, len, &value))
        return;
    fuzz_taken++;
    size_t used = culex__timestamp_format(value, out);
    require(used <= sizeof out && culex__timestamp_parse(out, used, &again) && again == value);
}

static bool is_same(culex_uuid left, culex_uuid right)
{
    return memcmp(&left, &right, sizeof left) == 0;
}

/* A UUID is a run's id, a ticket or neither, and made of its parts again. */
static void parts_check(culex_uuid id)
{
    struct culex_run_id_parts parts;
    struct culex_ticket ticket;
    bool is_run = culex__run_id_read(id, &parts), is_ticket = culex__ticket_parse(id, &ticket);
    require(!is_run || !is_ticket);
    require(!is_run || is_same(culex__run_id_make(parts), id));
    require(!is_ticket || (ticket.producer != 0 && is_same(culex__ticket_format(ticket), id)));
    fuzz_taken += is_run + is_ticket;
}

static void uuid_check(const char *text, size_t len)
{
    culex_uuid value, again;
    char out[CULEX_UUID_TEXT_LEN];
    if (!culex__uuid_read(text, len, &value))
        return;
    fuzz_taken++;
    culex__uuid_write(value, out);
    require(culex__uuid_read(out, sizeof out, &again) && is_same(again, value));
    parts_check(value);
}

static void integers_check(const char *text, size_t len)
{
    int64_t narrow, narrow_again;
    culex_int128 wide, wide_again;
    char out[CULEX_NUMBER_TEXT_MAX];
    if (culex__int64_parse(text, len, &narrow)) {
        size_t used = culex__int64_format(narrow, out);
        require(culex__int64_parse(out, used, &narrow_again) && narrow_again == narrow);
        fuzz_taken++;
    }
    if (culex__int128_parse(text, len, &wide)) {
        size_t used = culex__int128_format(wide, out);
        require(used <= sizeof out && culex__int128_parse(out, used, &wide_again));
        require(memcmp(&wide, &wide_again, sizeof wide) == 0);
    }
}

/* The grammar of JSON numbers, which the float reader expects to have been checked, written again.
 */
static bool is_json_number(const char *text, size_t len)
{
    size_t at = len > 0 && text[0] == '-';
    size_t first = at;
    while (at < len && text[at] >= '0' && text[at] <= '9')
        at++;
    bool is_good = at > first && (text[first] != '0' || at == first + 1);
    if (at < len && text[at] == '.') {
        size_t point = ++at;
        while (at < len && text[at] >= '0' && text[at] <= '9')
            at++;
        is_good = is_good && at > point;
    }
    if (at < len && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        at += at < len && (text[at] == '+' || text[at] == '-');
        size_t exponent = at;
        while (at < len && text[at] >= '0' && text[at] <= '9')
            at++;
        is_good = is_good && at > exponent;
    }
    return is_good && at == len;
}

static void floats_check(const char *text, size_t len)
{
    double value, again;
    char out[CULEX_FLOAT_TEXT_MAX];
    struct culex__json json = {.start = text, .at = text, .end = text + len};
    struct culex__json_text number;
    bool is_number = is_json_number(text, len);
    require(is_number == (culex__json_number(&json, &number) == NULL && json.at == json.end));
    if (!is_number || !culex__float64_parse(text, len, &value))
        return;
    fuzz_taken++;
    size_t used = culex__float64_format(value, out);
    require(used <= sizeof out && culex__float64_parse(out, used, &again));
    require(memcmp(&value, &again, sizeof value) == 0);
}

static void base64_check(const char *text, size_t len)
{
    uint8_t bytes[TEXT_MAX];
    char out[2 * TEXT_MAX];
    size_t count;
    if (!culex__base64_parse(text, len, bytes, &count))
        return;
    require(culex__base64_size(count) == len);
    culex__base64_format(bytes, count, out);
    require(memcmp(out, text, len) == 0);
}

static bool is_same_needs(const struct culex_needs *left, const struct culex_needs *right)
{
    bool is_same = left->count == right->count;
    for (size_t i = 0; i < left->count && is_same; i++)
        is_same = strcmp(left->of[i].name, right->of[i].name) == 0 &&
                  left->of[i].units == right->of[i].units;
    return is_same;
}

/* Needs are an offer as well, and one text stands for each. What fits is taken once. */
static void needs_check(const char *bytes, size_t len)
{
    char text[TEXT_MAX + 1], again[CULEX__NEEDS_SIZE];
    struct culex_needs needs, offers, rest;
    size_t among_len = 0;
    memcpy(text, bytes, len);
    text[len] = '\0';
    const char *among = culex__needs_among(bytes, len, &among_len);
    require(among == NULL || (among > bytes && among + among_len <= bytes + len));
    bool is_needs = culex__needs_read(text, &needs), is_offer = culex__offers_read(text, &offers);
    require(is_offer || !is_needs);
    if (!is_offer)
        return;
    fuzz_taken++;
    culex__needs_write(&offers, again);
    require(strcmp(again, text) == 0);
    require(!is_needs || is_same_needs(&needs, &offers));
    if (!is_needs)
        return;
    rest = offers;
    require(culex__needs_fit(&needs, &rest));
    culex__needs_take(&needs, &rest);
    require(culex__needs_are_offered(&needs, &rest) && !culex__needs_fit(&needs, &rest));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    if (size > TEXT_MAX)
        return 0;
    duration_check(text, size);
    timestamp_check(text, size);
    uuid_check(text, size);
    integers_check(text, size);
    floats_check(text, size);
    base64_check(text, size);
    needs_check(text, size);
    return 0;
}
