/* man.c - pages for man(1), in the macros that groff and mandoc share. */
#include <string.h>

#include "page.h"

enum { UNSPACED_MAX = 40 /* a longer word may be broken */ };

static void escape(struct page *page, unsigned code, bool is_line_start)
{
    static const struct {
        char byte;
        const char *name;
    } names[] = {{'\\', "\\(rs"}, {'-', "\\-"},   {'\'', "\\(aq"}, {'`', "\\(ga"},
                 {'^', "\\(ha"},  {'~', "\\(ti"}, {'"', "\\(dq"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (code == (unsigned char)names[i].byte) {
            buf_text(page->out, names[i].name);
            return;
        }
    }
    if (code == '.' && is_line_start)
        buf_text(page->out, "\\&.");
    else if (code < 0x80)
        buf_char(page->out, (char)code);
    else
        buf_printf(page->out, "\\[u%04X]", code);
}

static bool is_line_start(const struct buf *out)
{
    return out->len == 0 || out->data[out->len - 1] == '\n';
}

/* No line starts with a space or has one at its end, which would break the paragraph. */
static void write_text(struct page *page, const char *text, size_t len)
{
    bool has_space = false;
    for (size_t at = 0; at < len;) {
        unsigned code;
        at += page_character(text + at, len - at, &code);
        if (code == ' ') {
            has_space = true;
            page->unspaced = 0;
            continue;
        }
        if (has_space && !is_line_start(page->out))
            buf_char(page->out, ' ');
        has_space = false;
        escape(page, code, is_line_start(page->out));
        if (++page->unspaced % UNSPACED_MAX == 0)
            buf_text(page->out, "\\:");
    }
    if (has_space && !is_line_start(page->out))
        buf_char(page->out, ' ');
}

static void write_code(struct page *page, const char *text, size_t len)
{
    buf_text(page->out, "\\fB");
    write_text(page, text, len);
    buf_text(page->out, "\\fR");
}

static void line_start(struct page *page)
{
    if (is_line_start(page->out))
        return;
    while (page->out->data[page->out->len - 1] == ' ')
        page->out->len--;
    buf_char(page->out, '\n');
}

static void write_title(struct page *page, const char *name)
{
    buf_text(page->out, ".TH ");
    write_text(page, name, strcspn(name, "."));
    /* Names and long words do not survive hyphens and stretched lines. */
    buf_text(page->out, " 3 \"\" Culex \"Jobs\"\n.nh\n.ad l\n.SH NAME\n");
    write_text(page, name, strcspn(name, "."));
    buf_text(page->out, " \\- ");
}

static void write_section(struct page *page, unsigned level, const char *word, const char *name)
{
    line_start(page);
    buf_text(page->out, level > 1 ? ".SS \"" : ".SH \"");
    for (; *word != '\0'; word++)
        buf_char(page->out,
                 level == 1 && *word >= 'a' && *word <= 'z' ? (char)(*word - 32) : *word);
    if (name != NULL) {
        buf_text(page->out, page->out->data[page->out->len - 1] == '"' ? "" : " ");
        write_text(page, name, strlen(name));
    }
    buf_text(page->out, "\"\n");
    page->is_fresh = true;
}

static void write_paragraph(struct page *page)
{
    line_start(page);
    if (!page->is_fresh)
        buf_text(page->out, ".PP\n");
    page->is_fresh = false;
    page->unspaced = 0;
}

static void write_entry(struct page *page)
{
    line_start(page);
    buf_text(page->out, ".TP\n");
    page->is_fresh = false;
    page->unspaced = 0;
}

static void write_behind(struct page *page)
{
    line_start(page);
    page->unspaced = 0;
}

static void write_table(struct page *page)
{
    line_start(page);
}

static void write_row(struct page *page, const char *name, const char *number)
{
    write_entry(page);
    write_code(page, name, strlen(name));
    buf_text(page->out, " (");
    write_text(page, number, strlen(number));
    buf_text(page->out, ")\n");
}

/* A term of a list that nothing is said about still needs a line. */
static void write_row_end(struct page *page)
{
    if (is_line_start(page->out))
        buf_text(page->out, "\\&\n");
    line_start(page);
}

static void write_block(struct page *page, const char *code)
{
    line_start(page);
    buf_text(page->out, ".nf\n");
    for (; *code != '\0'; code++) {
        if (*code == '\n' || *code == ' ')
            buf_char(page->out, *code);
        else
            escape(page, (unsigned char)*code, false);
    }
    buf_text(page->out, ".fi\n");
    page->is_fresh = false;
}

const struct markup markup_man = {write_title,  write_section, write_paragraph, write_entry,
                                  write_behind, write_table,   write_row,       write_row_end,
                                  write_block,  write_text,    write_code};
