#include "page.h"

#include <string.h>

#include "shown.h"

size_t page_character(const char *text, size_t len, unsigned *ret_code)
{
    uint32_t code;
    size_t length = shown_char(text, len, "\t\n\r", &code);
    *ret_code = code < ' ' ? ' ' : code;
    return length;
}

void page_text(struct page *page, const char *text)
{
    page->markup->text(page, text, strlen(text));
}

void page_code(struct page *page, const char *text, size_t len)
{
    page->markup->code(page, text, len);
}

/* Line by line, so that text keeps its shape in the source of the page. */
void page_prose(struct page *page, const char *text)
{
    bool is_new = true;
    while (text != NULL && *text != '\0') {
        size_t blanks = strspn(text, " \t\r");
        size_t len = strcspn(text + blanks, "\n");
        if (len == 0) {
            is_new = true;
        } else {
            if (is_new)
                page->markup->paragraph(page);
            page->markup->text(page, text + blanks, len);
            buf_char(page->out, '\n');
            is_new = false;
        }
        text += blanks + len;
        text += *text == '\n';
    }
}
