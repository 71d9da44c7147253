#include "core/progress.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"

bool culex__progress_is_valid(const char *progress)
{
    size_t len = progress != NULL ? strnlen(progress, CULEX_PROGRESS_MAX + 1) : 0;
    return len <= CULEX_PROGRESS_MAX && (len == 0 || culex__utf8_is_valid(progress, len));
}

void culex__progress_split(const char *progress, int *ret_percent, const char **ret_text)
{
    size_t sign, digits;
    *ret_percent = -1;
    *ret_text = progress != NULL ? progress : "";
    sign = **ret_text == '-';
    digits = strspn(*ret_text + sign, "0123456789");
    if (digits == 0 || digits > 3 || (*ret_text)[sign + digits] != ' ')
        return;
    int percent = atoi(*ret_text);
    *ret_percent = percent >= 0 && percent <= 100 ? percent : -1;
    *ret_text += sign + digits + 1;
}
