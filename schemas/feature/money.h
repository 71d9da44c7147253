/* money.h - the C side of own_types.job: the type, and what reads and writes its text. */
#ifndef MONEY_H
#define MONEY_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* As the package and the name of the type in the schema make it. */
typedef struct shop_own_money {
    int64_t minor;    /* 1250 */
    char currency[4]; /* "EUR" */
} shop_own_money;

/* "12.50 EUR", and no other text for the same value. */
static inline bool money_parse(const char *text, size_t len, shop_own_money *ret_value)
{
    int64_t whole = 0;
    size_t at = 0;
    while (at < len && text[at] >= '0' && text[at] <= '9' && at < 16)
        whole = whole * 10 + (text[at++] - '0');
    if (at == 0 || (at > 1 && text[0] == '0') || len - at != 7 || text[at] != '.' ||
        text[at + 1] < '0' || text[at + 1] > '9' || text[at + 2] < '0' || text[at + 2] > '9' ||
        text[at + 3] != ' ' || strspn(text + at + 4, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3)
        return false;
    ret_value->minor = whole * 100 + (text[at + 1] - '0') * 10 + (text[at + 2] - '0');
    memcpy(ret_value->currency, text + at + 4, 4);
    return true;
}

static inline int money_format(const shop_own_money *value, char *ret_text, size_t size)
{
    if (value->minor < 0 || strspn(value->currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3)
        return -1;
    return snprintf(ret_text, size, "%" PRId64 ".%02" PRId64 " %s", value->minor / 100,
                    value->minor % 100, value->currency);
}

#endif
