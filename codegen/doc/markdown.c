/* markdown.c - pages as CommonMark, with the tables that most readers of it know. */
#include <string.h>

#include "page.h"

static bool is_line_start(const struct buf *out)
{
    return out->len == 0 || out->data[out->len - 1] == '\n';
}

/* Whether all of the line so far is digits, which a '.' would make an item of a list. */
static bool is_number_so_far(const struct buf *out)
{
    size_t at = out->len;
    while (at > 0 && out->data[at - 1] >= '0' && out->data[at - 1] <= '9')
        at--;
    return at < out->len && (at == 0 || out->data[at - 1] == '\n');
}

static bool is_special(const struct buf *out, const char *text, size_t len)
{
    if (strchr("\\`*_{}[]<>&|~#$", *text) != NULL)
        return true;
    if (*text == '.' || *text == ')')
        return is_number_so_far(out);
    if (*text == ':') /* of an address, which some readers make a link */
        return len > 1 && text[1] == '/';
    return is_line_start(out) && strchr("+-=:", *text) != NULL;
}

static void write_text(struct page *page, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        unsigned code;
        size_t length = page_character(text + at, len - at, &code);
        if (code == ' ' || (code == '?' && (length > 1 || text[at] != '?')))
            buf_char(page->out, (char)code);
        else {
            if (length == 1 && is_special(page->out, text + at, len - at))
                buf_char(page->out, '\\');
            buf_append(page->out, text + at, length);
        }
        at += length;
    }
}

static size_t longest_run(const char *text, size_t len, char byte)
{
    size_t longest = 0;
    size_t run = 0;
    for (size_t at = 0; at < len; at++) {
        run = text[at] == byte ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void write_code(struct page *page, const char *text, size_t len)
{
    size_t fence = longest_run(text, len, '`') + 1;
    bool is_padded = len > 0 && (strchr("` ", text[0]) != NULL || strchr("` ", text[len - 1]));
    for (size_t i = 0; i < fence; i++)
        buf_char(page->out, '`');
    buf_text(page->out, is_padded ? " " : "");
    for (size_t at = 0; at < len;) {
        unsigned character;
        size_t length = page_character(text + at, len - at, &character);
        if (character == ' ' || character == '?')
            buf_char(page->out, (char)character);
        else
            buf_append(page->out, text + at, length);
        at += length;
    }
    buf_text(page->out, is_padded ? " " : "");
    for (size_t i = 0; i < fence; i++)
        buf_char(page->out, '`');
}

static void write_paragraph(struct page *page)
{
    if (page->out->len > 0 && !is_line_start(page->out))
        buf_char(page->out, '\n');
    if (page->out->len > 0)
        buf_char(page->out, '\n');
    page->is_fresh = false;
}

static void write_title(struct page *page, const char *name)
{
    buf_text(page->out, "# ");
    write_code(page, name, strlen(name));
    write_paragraph(page);
}

static void write_section(struct page *page, unsigned level, const char *word, const char *name)
{
    write_paragraph(page);
    buf_text(page->out, level > 1 ? "### " : "## ");
    buf_text(page->out, word);
    if (name != NULL) {
        buf_text(page->out, *word == '\0' ? "" : " ");
        write_code(page, name, strlen(name));
    }
    buf_char(page->out, '\n');
    page->is_fresh = true;
}

static void write_entry(struct page *page)
{
    if (!is_line_start(page->out))
        buf_char(page->out, '\n');
    if (page->is_fresh)
        buf_char(page->out, '\n');
    page->is_fresh = false;
    buf_text(page->out, "* ");
}

static void write_behind(struct page *page)
{
    buf_text(page->out, ": ");
}

static void write_table(struct page *page)
{
    write_paragraph(page);
    buf_text(page->out, "| value | number | |\n|---|---|---|\n");
}

static void write_row(struct page *page, const char *name, const char *number)
{
    buf_printf(page->out, "| `%s` | %s | ", name, number);
}

static void write_row_end(struct page *page)
{
    buf_text(page->out, " |\n");
}

static void write_block(struct page *page, const char *code)
{
    write_paragraph(page);
    buf_printf(page->out, "```c\n%s```\n", code);
}

const struct markup markup_markdown = {write_title,  write_section, write_paragraph, write_entry,
                                       write_behind, write_table,   write_row,       write_row_end,
                                       write_block,  write_text,    write_code};
