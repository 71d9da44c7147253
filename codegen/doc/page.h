/* page.h - a page of documentation, in a markup that its writer need not know.
 *
 * Whatever is passed as text may come from a schema: it is shown as it is and never read as
 * markup. Characters that could move a cursor or reorder a line become '?'. */
#ifndef CULEXC_PAGE_H
#define CULEXC_PAGE_H

#include <stdbool.h>

#include "buf.h"

struct page;

struct markup {
    void (*title)(struct page *page, const char *name);
    void (*section)(struct page *page, unsigned level, const char *word, const char *name);
    void (*paragraph)(struct page *page); /* a new one begins */
    void (*entry)(struct page *page);     /* of a list: its term follows ... */
    void (*behind)(struct page *page);    /* ... and here what is said about it */
    void (*table)(struct page *page);     /* its rows follow: a name, a number, a text */
    void (*row)(struct page *page, const char *name, const char *number);
    void (*row_end)(struct page *page);
    void (*block)(struct page *page, const char *code); /* lines of C that is known to be plain */
    void (*text)(struct page *page, const char *text, size_t len); /* of one line */
    void (*code)(struct page *page, const char *text, size_t len); /* of one line */
};

extern const struct markup markup_markdown, markup_man;

struct page {
    struct buf *out;
    const struct markup *markup;
    bool is_fresh;     /* a heading stands before */
    unsigned unspaced; /* characters since the last space, in man */
};

/* Running text and code in it. Line ends count as spaces. */
void page_text(struct page *page, const char *text);
void page_code(struct page *page, const char *text, size_t len);

/* Paragraphs, as an empty line parts them. NULL is no text. */
void page_prose(struct page *page, const char *text);

/* Decodes one character of at most `len` bytes; ' ' for a blank, '?' for what is not shown. */
size_t page_character(const char *text, size_t len, unsigned *ret_code);

#endif
