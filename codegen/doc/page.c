#include "page.h"

#include <string.h>

#include "base/utf8.h"

size_t page_character(const char *text, size_t len, unsigned *ret_code)
{
    size_t length = culex__utf8_char(text, len);
    uint32_t code = culex__utf8_code(text, length);
    bool is_blank = length == 1 && strchr(" \t\n\r", (int)code) != NULL && code != 0;
    *ret_code = is_blank ? ' ' : code;
    if (length == 0 || (culex__utf8_is_deceptive(code) && !is_blank))
        *ret_code = '?';
    return length == 0 ? 1 : length;
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
