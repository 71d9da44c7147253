#include "command/lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "command/print.h"

static void letter_add(struct ops_lines *lines, char letter)
{
    if (lines->len == lines->capacity) {
        lines->capacity = lines->capacity > 0 ? lines->capacity * 2 : 4096;
        lines->text = ops_alloc(lines->text, lines->capacity);
    }
    lines->text[lines->len++] = letter;
}

culex_status ops_lines_next(struct ops_lines *lines, struct ops_slice *ret_line, culex_error *error)
{
    int letter = getc_unlocked(lines->in);
    *ret_line = (struct ops_slice){NULL, 0};
    lines->len = 0;
    lines->number++;
    for (; letter != EOF && letter != '\n'; letter = getc_unlocked(lines->in)) {
        if (lines->len == OPS_LINE_MAX)
            return ops_usage(error, "it is longer than %d MiB, as no line of an export is",
                             OPS_LINE_MAX >> 20);
        letter_add(lines, (char)letter);
    }
    if (ferror(lines->in) != 0)
        return ops_usage(error, "it cannot be read");
    lines->is_cut = letter == EOF;
    if (letter == EOF && lines->len == 0)
        return CULEX_OK;
    letter_add(lines, '\0');
    *ret_line = (struct ops_slice){lines->text, lines->len - 1};
    return CULEX_OK;
}

void ops_lines_end(struct ops_lines *lines)
{
    free(lines->text);
    lines->text = NULL;
    lines->len = lines->capacity = 0;
}
