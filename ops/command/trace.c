#include "command/trace.h"

#include <stdio.h>
#include <string.h>

#include "command/scan.h"

static bool is_digit(char byte)
{
    return byte != '\0' && strchr("0123456789abcdef", byte) != NULL;
}

/* As many digits as the form has blanks, and what else it has. */
static bool has_form(const char *text, size_t len, const char *form)
{
    for (size_t i = 0; form[i] != '\0'; i++) {
        if (i == len || (form[i] == ' ' ? !is_digit(text[i]) : form[i] != text[i]))
            return false;
    }
    return true;
}

/* "00-ID-ID-00" between quotes. A damaged text may say anything there. */
static bool is_traceparent(struct ops_slice value)
{
    static const char form[] = "\"00-                                -                -0 \"";
    return value.len == sizeof form - 1 && has_form(value.text, value.len, form);
}

bool ops_trace_find(culex_bytes payload, char ret_traceparent[OPS_TRACEPARENT_SIZE])
{
    struct ops_scan scan;
    struct ops_slice name, value, last = {"", 0};
    ret_traceparent[0] = '\0';
    if (!ops_scan_begin((struct ops_slice){(const char *)payload.data, payload.len}, &scan) ||
        !scan.is_object)
        return false;
    while (ops_scan_next(&scan, &name, &value))
        last = ops_slice_is(name, "culex.trace") ? value : (struct ops_slice){"", 0};
    if (!is_traceparent(last))
        return false;
    snprintf(ret_traceparent, OPS_TRACEPARENT_SIZE, "%.*s", (int)last.len - 2, last.text + 1);
    return true;
}

/* A text of a later version may have more behind what this one has. */
bool ops_traceparent_is_good(const char *text)
{
    static const char form[] = "  -                                -                -  ";
    enum { ID_AT = 3, ID_LEN = 32, PARENT_AT = 36, PARENT_LEN = 16, LEN = sizeof form - 1 };
    if (!has_form(text, strlen(text), form))
        return false;
    bool is_first = strncmp(text, "00", 2) == 0, is_none = strncmp(text, "ff", 2) == 0;
    bool has_ids = strspn(text + ID_AT, "0") < ID_LEN && strspn(text + PARENT_AT, "0") < PARENT_LEN;
    return has_ids && !is_none && (text[LEN] == '\0' || (text[LEN] == '-' && !is_first));
}
