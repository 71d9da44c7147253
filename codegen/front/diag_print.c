#include "diag_print.h"

#include <inttypes.h>
#include <string.h>

#include "buf.h"
#include "json_out.h"
#include "limits.h"

/* A longer line is shown in part, so one hostile line cannot fill a screen. */
enum { LINE_SHOWN = 160, LINE_BEFORE = 80 };

struct palette {
    const char *bold, *red, *magenta, *cyan, *green, *reset;
};

static const struct palette plain = {"", "", "", "", "", ""};
static const struct palette coloured = {"\33[1m",    "\33[1;31m", "\33[1;35m",
                                        "\33[1;36m", "\33[1;32m", "\33[0m"};

/* Schema text reaches a terminal only through here: whatever could move the
 * cursor or reorder the line is shown as '?'. */
static void print_safely(FILE *out, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        uint32_t code = 0;
        size_t length = utf8_sequence(text + at, len - at, &code);
        if (length == 0 || (utf8_is_deceptive(code) && code != '\t'))
            fputc('?', out);
        else
            fwrite(text + at, 1, length, out);
        at += length == 0 ? 1 : length;
    }
}

void diag_vsay(const char *format, va_list args)
{
    struct buf text = {0};
    buf_vprintf(&text, format, args);
    fputs("culexc: ", stderr);
    print_safely(stderr, text.data, text.len);
    fputc('\n', stderr);
    buf_release(&text);
}

void diag_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_vsay(format, args);
    va_end(args);
}

static bool is_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* The part [start, end) of a line that is shown when the span begins at `at`. */
static void window_choose(const char *line, size_t len, size_t at, size_t *ret_start,
                          size_t *ret_end)
{
    size_t start = len > LINE_SHOWN && at > LINE_BEFORE ? at - LINE_BEFORE : 0;
    while (start > 0 && is_inside(line[start]))
        start--;
    size_t end = len - start > LINE_SHOWN ? start + LINE_SHOWN : len;
    while (end < len && is_inside(line[end]))
        end++;
    *ret_start = start;
    *ret_end = end;
}

static void print_caret(FILE *out, const char *line, size_t from, size_t at, size_t stop)
{
    for (size_t i = from; i < at; i++) {
        if (!is_inside(line[i]))
            fputc(line[i] == '\t' ? '\t' : ' ', out);
    }
    fputc('^', out);
    for (size_t i = at + 1; i < stop; i++) {
        if (!is_inside(line[i]))
            fputc('^', out);
    }
}

static void print_excerpt(FILE *out, struct span span, const struct palette *palette)
{
    uint32_t number = span_line(span);
    size_t len;
    const char *line = source_line(span.source, number, &len);
    size_t at = span.offset - span.source->lines[number - 1];
    at = at > len ? len : at;
    size_t start, end;
    window_choose(line, len, at, &start, &end);
    size_t stop = span.length < end - at ? at + span.length : end;

    fprintf(out, "%5" PRIu32 " | %s", number, start > 0 ? "..." : "");
    print_safely(out, line + start, end - start);
    fprintf(out, "%s\n      | %s%s", end < len ? "..." : "", palette->green,
            start > 0 ? "   " : "");
    print_caret(out, line, start, at, stop);
    fprintf(out, "%s\n", palette->reset);
}

static void print_head(FILE *out, struct span span, const char *colour, const char *label,
                       const char *text, const struct palette *palette)
{
    fputs(palette->bold, out);
    if (span.source != NULL) {
        struct place place = span_place(span);
        print_safely(out, span.source->path, strlen(span.source->path));
        fprintf(out, ":%" PRIu32 ":%" PRIu32 ": ", place.line, place.column);
    }
    fprintf(out, "%s%s%s%s: ", palette->reset, colour, label, palette->reset);
    print_safely(out, text, strlen(text));
}

static void print_diag(FILE *out, const struct diag *diag, const struct palette *palette)
{
    bool is_error = diag->severity == DIAG_ERROR;
    print_head(out, diag->span, is_error ? palette->red : palette->magenta,
               is_error ? "error" : "warning", diag->text, palette);
    fprintf(out, " [%s]\n", diag_slug(diag->id));
    print_excerpt(out, diag->span, palette);
    for (const struct diag_note *note = diag->notes; note != NULL; note = note->next) {
        print_head(out, note->span, palette->cyan, "note", note->text, palette);
        fputc('\n', out);
        if (note->span.source != NULL)
            print_excerpt(out, note->span, palette);
    }
    if (diag->help != NULL) {
        fprintf(out, "%shelp%s: ", palette->cyan, palette->reset);
        print_safely(out, diag->help, strlen(diag->help));
        fputc('\n', out);
    }
}

void diag_print_human(const struct diag_sink *sink, FILE *out, bool is_coloured)
{
    const struct palette *palette = is_coloured ? &coloured : &plain;
    for (const struct diag *diag = sink->first; diag != NULL; diag = diag->next)
        print_diag(out, diag, palette);
    if (sink->is_full)
        fprintf(out, "culexc: more than %u errors; the rest is not shown\n", LIMIT_ERRORS);
}

static void json_place(struct json_out *json, struct span span)
{
    struct place place = span_place(span);
    json_text(json, "file", span.source->path);
    json_number(json, "line", place.line);
    json_number(json, "column", place.column);
    json_number(json, "offset", span.offset);
    json_number(json, "length", span.length);
}

static void json_diag(struct json_out *json, const struct diag *diag)
{
    json_open(json, NULL, '{');
    json_text(json, "id", diag_slug(diag->id));
    json_text(json, "severity", diag->severity == DIAG_ERROR ? "error" : "warning");
    json_place(json, diag->span);
    json_text(json, "message", diag->text);
    json_open(json, "notes", '[');
    for (const struct diag_note *note = diag->notes; note != NULL; note = note->next) {
        json_open(json, NULL, '{');
        if (note->span.source != NULL)
            json_place(json, note->span);
        json_text(json, "message", note->text);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_text(json, "help", diag->help);
    json_close(json, '}');
}

void diag_print_json(const struct diag_sink *sink, FILE *out)
{
    for (const struct diag *diag = sink->first; diag != NULL; diag = diag->next) {
        struct json_out json = {.is_compact = true};
        json_diag(&json, diag);
        fprintf(out, "%s\n", json.buf.data);
        buf_release(&json.buf);
    }
}
