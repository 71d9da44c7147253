#include "literal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/digit.h"
#include "base/utf8.h"
#include "buf.h"
#include "duration.h"
#include "quantity.h"

struct reading {
    struct diag_sink *sink;
    const struct source *source;
    struct token token;
    bool is_negative;
};

static struct span reading_span(const struct reading *reading, size_t at, size_t length)
{
    return (struct span){reading->source, reading->token.offset + (uint32_t)at, (uint32_t)length};
}

/* A number that C would read as octal, in decimal and as the hexadecimal of what C reads. */
static void help_octal(const struct reading *reading, const char *digits)
{
    const char *decimal = digits + strspn(digits, "0");
    bool is_octal = strspn(digits, "01234567") == strlen(digits) && strlen(digits) < 20;
    if (*decimal == '\0')
        diag_help(reading->sink, "write '0'");
    else if (is_octal)
        diag_help(reading->sink, "write '%s', or '0x%llx' if octal was meant", decimal,
                  strtoull(digits, NULL, 8));
    else
        diag_help(reading->sink, "write '%s'", decimal);
}

/* How many bytes of the text are a number in front of a suffix of C, or of a lone point; or 0. */
static size_t number_before_suffix(const char *text)
{
    bool is_hex = strncasecmp(text, "0x", 2) == 0, is_binary = strncasecmp(text, "0b", 2) == 0;
    size_t start = is_hex || is_binary ? 2 : 0;
    size_t digits = strspn(text + start, is_hex      ? "0123456789abcdefABCDEF"
                                         : is_binary ? "01"
                                                     : "0123456789.");
    const char *end = text + start + digits;
    size_t suffix = strspn(end, start > 0 ? "uUlL" : "uUlLfF");
    const char *point = strchr(text, '.');
    bool is_whole = digits > 0 && end[suffix] == '\0' && culex__is_digit(*text);
    if (!is_whole || (suffix == 0 && end[-1] != '.') ||
        (point != NULL && point != strrchr(text, '.')))
        return 0;
    return start + digits;
}

/* "5u", "1.0f", "0xFFu", "5." */
static void help_suffix(const struct reading *reading, const char *text, size_t len,
                        struct span span)
{
    struct arena *arena = reading->sink->arena;
    const char *number =
        arena_printf(arena, "%.*s%s", (int)len, text, text[len - 1] == '.' ? "0" : "");
    if (number[0] == '0' && culex__is_digit(number[1])) {
        if (strchr(number, '.') == NULL) {
            help_octal(reading, number);
            return;
        }
        while (number[0] == '0' && culex__is_digit(number[1]))
            number++;
    }
    if (text[len] == '\0')
        diag_help(reading->sink, "a digit stands behind the point: write '%s'", number);
    else
        diag_help(reading->sink, "a number has no suffix: write '%s'", number);
    /* "0f" for "0xf", "0." for "0.2" */
    bool may_lack_some = (number[0] == '0' && number[1] == '\0') || text[len] == '\0';
    diag_fix(reading->sink, may_lack_some ? FIX_MAYBE_INCORRECT : FIX_MACHINE_APPLICABLE, span,
             "%s", number);
}

/* "30sec", "512MB", "5u", "1.0f" */
static void help_number(const struct reading *reading, const char *text, struct span span)
{
    struct arena *arena = reading->sink->arena;
    const char *duration = quantity_duration(arena, text);
    const char *size = quantity_size(arena, text);
    size_t number = number_before_suffix(text);
    if (duration != NULL)
        diag_help(reading->sink, "write '%s'", duration);
    else if (size != NULL)
        diag_help(reading->sink, "write '%s'", size);
    else if (number > 0)
        help_suffix(reading, text, number, span);
    else
        diag_help(reading->sink, "durations are whole numbers with the units w d h m s ms us ns, "
                                 "as 1m30s; sizes end in K, M or G");
}

static enum literal_kind read_int(const struct reading *reading, const char *text, size_t len,
                                  struct literal *literal)
{
    if (reading->token.fault == FAULT_NUMBER) {
        diag_report(reading->sink, DIAG_BAD_NUMBER, literal->span, "'%.*s' is not a number",
                    len > 40 ? 40 : (int)len, text);
        help_number(reading, arena_copy(reading->sink->arena, text, len), literal->span);
        return LITERAL_POISON;
    }
    if (len > 1 && text[0] == '0' && (culex__is_digit(text[1]) || text[1] == '_')) {
        diag_report(reading->sink, DIAG_BAD_NUMBER, literal->span,
                    "a number that starts with 0 could be meant as octal");
        diag_help(reading->sink, "leave the 0 out, or write 0x for hexadecimal");
        return LITERAL_POISON;
    }
    if (!wide_parse(text, len, &literal->integer)) {
        diag_report(reading->sink, DIAG_BAD_NUMBER, literal->span,
                    "the number does not fit in 128 bits");
        return LITERAL_POISON;
    }
    return LITERAL_INT;
}

static enum literal_kind read_size(const struct reading *reading, const char *text, size_t len,
                                   struct literal *literal)
{
    int64_t count;
    unsigned shift = text[len - 1] == 'K' ? 10 : text[len - 1] == 'M' ? 20 : 30;
    if (!wide_parse(text, len - 1, &literal->integer) || !wide_to_int64(literal->integer, &count) ||
        count > INT64_MAX >> shift) {
        diag_report(reading->sink, DIAG_BAD_NUMBER, literal->span, "the size is too large");
        return LITERAL_POISON;
    }
    literal->integer = wide_from((int64_t)((uint64_t)count << shift));
    return LITERAL_SIZE;
}

static enum literal_kind read_duration(const struct reading *reading, const char *text, size_t len,
                                       struct literal *literal)
{
    const char *fault = duration_read(text, len, reading->is_negative, &literal->duration_ns);
    if (fault == NULL)
        return LITERAL_DURATION;
    diag_report(reading->sink, DIAG_BAD_DURATION, literal->span, "the duration %s", fault);
    return LITERAL_POISON;
}

/* \u{1F600}: the bytes it takes, 0 when malformed. */
static size_t escape_code(const char *text, size_t len, struct buf *buf)
{
    char bytes[4];
    size_t at = 3;
    uint32_t code = 0;
    if (len < 4 || text[2] != '{')
        return 0;
    for (; at < len && at < 9 && culex__hex_value(text[at]) >= 0; at++)
        code = code * 16 + (uint32_t)culex__hex_value(text[at]);
    if (at == 3 || at >= len || text[at] != '}' || code > 0x10ffff ||
        (code >= 0xd800 && code < 0xe000))
        return 0;
    buf_append(buf, bytes, culex__utf8_write(code, bytes));
    return at + 1;
}

/* The escape at `text`, a backslash: the bytes it takes, 0 when there is no such one. */
static size_t escape_read(const char *text, size_t len, struct buf *buf)
{
    static const char letters[] = "ntr0\\\"'";
    static const char values[] = "\n\t\r\0\\\"'";
    const char *letter = len < 2 || text[1] == '\0' ? NULL : strchr(letters, text[1]);
    if (letter != NULL) {
        buf_char(buf, values[letter - letters]);
        return 2;
    }
    if (len >= 4 && text[1] == 'x' && culex__hex_value(text[2]) >= 0 &&
        culex__hex_value(text[3]) >= 0) {
        buf_char(buf, (char)(culex__hex_value(text[2]) * 16 + culex__hex_value(text[3])));
        return 4;
    }
    return len >= 2 && text[1] == 'u' ? escape_code(text, len, buf) : 0;
}

/* Decodes what stands between the quotes; false when an escape is unknown. */
static bool quoted_decode(const struct reading *reading, const char *text, size_t len,
                          struct buf *buf)
{
    for (size_t at = 1; at + 1 < len;) {
        if (text[at] != '\\') {
            buf_char(buf, text[at++]);
            continue;
        }
        size_t length = escape_read(text + at, len - 1 - at, buf);
        if (length == 0) {
            diag_report(reading->sink, DIAG_BAD_ESCAPE, reading_span(reading, at, 2),
                        "unknown escape");
            diag_help(reading->sink, "the escapes are \\n \\t \\r \\0 \\\\ \\\" \\' \\xHH "
                                     "\\u{CODE}");
            return false;
        }
        at += length;
    }
    buf_text(buf, "");
    return true;
}

static enum literal_kind read_string(const struct reading *reading, const struct buf *decoded,
                                     struct literal *literal)
{
    if (!culex__utf8_is_valid(decoded->data, decoded->len) ||
        memchr(decoded->data, '\0', decoded->len) != NULL) {
        diag_report(reading->sink, DIAG_BAD_STRING, literal->span,
                    "a string must be UTF-8 without NUL");
        diag_help(reading->sink, "other bytes are written as x\"00ff\", for a param of type bytes");
        return LITERAL_POISON;
    }
    return LITERAL_STRING;
}

/* One byte, or one character up to U+00FF. */
static enum literal_kind read_char(const struct reading *reading, const struct buf *decoded,
                                   struct literal *literal)
{
    size_t length = culex__utf8_char(decoded->data, decoded->len);
    uint32_t code = culex__utf8_code(decoded->data, length);
    if (length == 0 && decoded->len == 1)
        code = (unsigned char)decoded->data[0], length = 1;
    if (length == 0 || length != decoded->len || code > 0xff) {
        diag_report(reading->sink, DIAG_BAD_CHAR, literal->span,
                    "a character literal is exactly one byte (U+0000 to U+00FF)");
        return LITERAL_POISON;
    }
    literal->integer = wide_from(code);
    return LITERAL_CHAR;
}

static enum literal_kind read_quoted(const struct reading *reading, const char *text, size_t len,
                                     struct literal *literal)
{
    enum literal_kind kind = LITERAL_POISON;
    struct buf decoded = {0};
    if (quoted_decode(reading, text, len, &decoded)) {
        kind = reading->token.kind == TOKEN_CHAR ? read_char(reading, &decoded, literal)
                                                 : read_string(reading, &decoded, literal);
        literal->text = arena_copy(reading->sink->arena, decoded.data, decoded.len);
        literal->len = decoded.len;
    }
    buf_release(&decoded);
    return kind;
}

static enum literal_kind read_bytes(const struct reading *reading, const char *text, size_t len,
                                    struct literal *literal)
{
    char *bytes = arena_alloc(reading->sink->arena, len);
    size_t digits = 0;
    for (size_t at = 2; at + 1 < len; at++) {
        if (text[at] == ' ')
            continue;
        int value = culex__hex_value(text[at]);
        if (value < 0) {
            digits = 1;
            break;
        }
        bytes[digits / 2] = (char)((unsigned char)bytes[digits / 2] * 16 + value);
        digits++;
    }
    if (digits % 2 != 0) {
        diag_report(reading->sink, DIAG_BAD_BYTES, literal->span,
                    "bytes are pairs of hexadecimal digits, as x\"00ff\"");
        return LITERAL_POISON;
    }
    literal->text = bytes;
    literal->len = digits / 2;
    return LITERAL_BYTES;
}

static enum literal_kind read_value(const struct reading *reading, const char *text, size_t len,
                                    struct literal *literal)
{
    switch (reading->token.kind) {
    case TOKEN_INT:
        return read_int(reading, text, len, literal);
    case TOKEN_SIZE:
        return read_size(reading, text, len, literal);
    case TOKEN_DURATION:
        return read_duration(reading, text, len, literal);
    case TOKEN_STRING:
    case TOKEN_CHAR:
        return read_quoted(reading, text, len, literal);
    case TOKEN_BYTES:
        return read_bytes(reading, text, len, literal);
    default:
        return reading->token.kind == TOKEN_FLOAT ? LITERAL_FLOAT : LITERAL_WORD;
    }
}

struct literal literal_read(struct diag_sink *sink, const struct source *source, struct token token,
                            bool is_negative)
{
    struct reading reading = {sink, source, token, is_negative};
    struct literal literal = {.span = reading_span(&reading, 0, token.length)};
    const char *text = source->text + token.offset;
    if (token.fault == FAULT_UNTERMINATED) { /* Reported where the token was fetched. */
        literal.kind = LITERAL_POISON;
        return literal;
    }
    literal.kind = read_value(&reading, text, token.length, &literal);
    if (literal.text == NULL) {
        literal.text = arena_copy(sink->arena, text, token.length);
        literal.len = token.length;
    }
    return literal;
}

bool literal_negate(struct literal *literal, struct arena *arena)
{
    literal->is_negative = true;
    switch (literal->kind) {
    case LITERAL_INT:
        literal->integer = wide_negate(literal->integer);
        break;
    case LITERAL_DURATION: /* It has its sign: the least one has no opposite. */
    case LITERAL_FLOAT:
    case LITERAL_POISON:
        break;
    default:
        return false;
    }
    if (literal->text != NULL)
        literal->text = arena_printf(arena, "-%s", literal->text);
    return true;
}
