/* base/hex.h - hexadecimal digits, in either case. */
#ifndef CULEX_BASE_HEX_H
#define CULEX_BASE_HEX_H

/* 0 to 15; -1 for what is no digit. */
static inline int culex__hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    char lower = (char)(digit | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

#endif
