#include "diag_print.h"

#include <inttypes.h>
#include <string.h>
#include <wchar.h>

#include "buf.h"
#include "say.h"
#include "shown.h"

/* A longer line is shown in part, so one hostile line cannot fill a screen. */
enum { LINE_SHOWN = 160, LINE_BEFORE = 80 };

struct palette {
    const char *bold, *red, *magenta, *cyan, *green, *reset;
};

static const struct palette plain = {"", "", "", "", "", ""};
static const struct palette coloured = {"\33[1m",    "\33[1;31m", "\33[1;35m",
                                        "\33[1;36m", "\33[1;32m", "\33[0m"};

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

/* Cells of a terminal that a character takes, as say_text writes it; *at moves behind it. */
static unsigned cells_take(const char *line, size_t *at, size_t stop)
{
    uint32_t code;
    *at += shown_char(line + *at, stop - *at, "", &code);
    int cells = wcwidth((wchar_t)code);
    return cells < 0 ? 1 : (unsigned)cells;
}

static void print_caret(FILE *out, const char *line, size_t from, size_t at, size_t stop)
{
    unsigned carets = 0;
    while (from < at) {
        char blank = line[from] == '\t' ? '\t' : ' ';
        for (unsigned cells = cells_take(line, &from, at); cells > 0; cells--)
            fputc(blank, out);
    }
    while (at < stop)
        carets += cells_take(line, &at, stop);
    for (unsigned i = 0; i < carets || i == 0; i++)
        fputc('^', out);
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
    say_text(out, line + start, end - start);
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
        say_text(out, span.source->path, strlen(span.source->path));
        fprintf(out, ":%" PRIu32 ":%" PRIu32 ": ", place.line, place.column);
    }
    fprintf(out, "%s%s%s%s: ", palette->reset, colour, label, palette->reset);
    say_text(out, text, strlen(text));
}

static const char *severity_word(const struct diag *diag)
{
    return diag->severity == DIAG_ERROR ? "error" : "warning";
}

static void print_first_line(FILE *out, const struct diag *diag, const struct palette *palette)
{
    print_head(out, diag->span, diag->severity == DIAG_ERROR ? palette->red : palette->magenta,
               severity_word(diag), diag->text, palette);
    fprintf(out, " [%s]\n", diag_slug(diag->id));
}

static void print_diag(FILE *out, const struct diag *diag, const struct palette *palette)
{
    print_first_line(out, diag, palette);
    print_excerpt(out, diag->span, palette);
    for (const struct diag_note *note = diag->notes; note != NULL; note = note->next) {
        print_head(out, note->span, palette->cyan, "note", note->text, palette);
        fputc('\n', out);
        if (note->span.source != NULL)
            print_excerpt(out, note->span, palette);
    }
    if (diag->help != NULL) {
        fprintf(out, "%shelp%s: ", palette->cyan, palette->reset);
        say_text(out, diag->help, strlen(diag->help));
        fputc('\n', out);
    }
}

void diag_print_human(const struct diag_sink *sink, FILE *out, bool is_coloured)
{
    const struct palette *palette = is_coloured ? &coloured : &plain;
    for (const struct diag *diag = sink->first; diag != NULL; diag = diag->next)
        print_diag(out, diag, palette);
}

void diag_print_short(const struct diag_sink *sink, FILE *out)
{
    for (const struct diag *diag = sink->first; diag != NULL; diag = diag->next)
        print_first_line(out, diag, &plain);
}

/* A workflow command ends at the line end; in its properties ':' and ',' have a meaning too. */
static void github_escape(struct buf *buf, const char *text, bool is_property)
{
    for (; *text != '\0'; text++) {
        bool is_special = *text == '%' || *text == '\r' || *text == '\n' ||
                          (is_property && (*text == ':' || *text == ','));
        if (is_special)
            buf_printf(buf, "%%%02X", (unsigned)*text);
        else
            buf_char(buf, *text);
    }
}

static void github_place(struct buf *buf, struct span span)
{
    struct place start = span_place(span), end = span_end(span);
    buf_text(buf, " file=");
    github_escape(buf, span.source->path, true);
    buf_printf(buf, ",line=%" PRIu32 ",col=%" PRIu32, start.line, start.column);
    if (end.line == start.line && end.column > start.column)
        buf_printf(buf, ",endColumn=%" PRIu32, end.column - 1);
}

static void github_text(struct buf *buf, const struct diag *diag)
{
    github_escape(buf, diag->text, false);
    for (const struct diag_note *note = diag->notes; note != NULL; note = note->next) {
        buf_text(buf, "%0A");
        if (note->span.source != NULL) {
            github_escape(buf, note->span.source->path, false);
            buf_printf(buf, ":%" PRIu32 ": ", span_line(note->span));
        }
        github_escape(buf, note->text, false);
    }
    if (diag->help != NULL) {
        buf_text(buf, "%0Ahelp: ");
        github_escape(buf, diag->help, false);
    }
}

void diag_print_github(const struct diag_sink *sink, FILE *out)
{
    for (const struct diag *diag = sink->first; diag != NULL; diag = diag->next) {
        struct buf buf = {0};
        buf_printf(&buf, "::%s", severity_word(diag));
        github_place(&buf, diag->span);
        buf_printf(&buf, ",title=%s::", diag_slug(diag->id));
        github_text(&buf, diag);
        say_text(out, buf.data, buf.len);
        fputc('\n', out);
        buf_release(&buf);
    }
}
