#include "command/crash_text.h"

#include <stdbool.h>
#include <string.h>

#include "command/print.h"

/* Takes what is from `at` up to `end` out of the text. */
static void part_drop(char *at, const char *end)
{
    memmove(at, end, strlen(end) + 1);
}

/* What begins so, and goes on with letters of `tail`, and ends so; wherever it stands. */
static void parts_drop(char *text, const char *begin, const char *tail, const char *end)
{
    for (char *at = strstr(text, begin); at != NULL; at = strstr(at, begin)) {
        const char *behind = at + strlen(begin);
        behind += strspn(behind, tail);
        bool is_it = strncmp(behind, end, strlen(end)) == 0;
        if (is_it)
            part_drop(at, behind + strlen(end));
        else
            at++;
    }
}

char *ops_crash_reduce(const char *text, size_t len)
{
    static const char digits[] = "0123456789", hex[] = "0123456789abcdef";
    char *made = ops_copy(text, len);
    if (strstr(made, "killed by ") == NULL)
        return made;
    char *caller = strstr(made, ", called from ");
    if (caller != NULL)
        *caller = '\0';
    parts_drop(made, " ", digits, " times in a row");
    parts_drop(made, " (sent by process ", digits, ")");
    parts_drop(made, " at 0x", hex, "");
    parts_drop(made, "+0x", hex, "");
    return made;
}
