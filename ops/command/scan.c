#include "command/scan.h"

#include <string.h>

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

struct ops_slice ops_slice_trim(struct ops_slice slice)
{
    for (; slice.len > 0 && is_blank(slice.text[0]); slice.len--)
        slice.text++;
    while (slice.len > 0 && is_blank(slice.text[slice.len - 1]))
        slice.len--;
    return slice;
}

bool ops_slice_is(struct ops_slice slice, const char *text)
{
    return strlen(text) == slice.len && memcmp(slice.text, text, slice.len) == 0;
}

static void blanks_skip(struct ops_scan *scan)
{
    while (scan->at < scan->end && is_blank(*scan->at))
        scan->at++;
}

static bool letter_take(struct ops_scan *scan, char letter)
{
    blanks_skip(scan);
    if (scan->at == scan->end || *scan->at != letter)
        return false;
    scan->at++;
    return true;
}

/* Behind the first quote; to behind the last one. */
static bool string_skip(struct ops_scan *scan)
{
    for (; scan->at < scan->end && *scan->at != '"'; scan->at++) {
        if (*scan->at == '\\' && ++scan->at == scan->end)
            return false;
    }
    return scan->at < scan->end && *scan->at++ == '"';
}

/* To the ',' or the bracket behind the value. */
static bool value_skip(struct ops_scan *scan)
{
    size_t depth = 0;
    while (scan->at < scan->end) {
        char letter = *scan->at;
        bool is_close = letter == '}' || letter == ']';
        if (depth == 0 && (is_close || letter == ','))
            return true;
        scan->at++;
        if (letter == '"' && !string_skip(scan))
            return false;
        depth += letter == '{' || letter == '[';
        depth -= is_close;
    }
    return false;
}

bool ops_scan_begin(struct ops_slice whole, struct ops_scan *ret_scan)
{
    whole = ops_slice_trim(whole);
    *ret_scan = (struct ops_scan){whole.text, whole.text + whole.len, false};
    if (letter_take(ret_scan, '{'))
        ret_scan->is_object = true;
    else if (!letter_take(ret_scan, '['))
        return false;
    return true;
}

bool ops_scan_next(struct ops_scan *scan, struct ops_slice *ret_name, struct ops_slice *ret_value)
{
    letter_take(scan, ',');
    blanks_skip(scan);
    *ret_name = (struct ops_slice){scan->at, 0};
    if (scan->at == scan->end || *scan->at == '}' || *scan->at == ']')
        return false;
    if (scan->is_object) {
        if (!letter_take(scan, '"'))
            return false;
        ret_name->text = scan->at;
        if (!string_skip(scan))
            return false;
        ret_name->len = (size_t)(scan->at - ret_name->text) - 1;
        if (!letter_take(scan, ':'))
            return false;
    }
    const char *start = scan->at;
    if (!value_skip(scan))
        return false;
    *ret_value = ops_slice_trim((struct ops_slice){start, (size_t)(scan->at - start)});
    return true;
}

bool ops_scan_is_over(const struct ops_scan *scan)
{
    const char *last = scan->at - 1; /* behind the first bracket there is always one before */
    while (is_blank(*last))
        last--;
    return scan->at + 1 == scan->end && *scan->at == (scan->is_object ? '}' : ']') && *last != ',';
}
