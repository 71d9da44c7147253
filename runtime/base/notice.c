#include "base/notice.h"

#include <stdio.h>
#include <string.h>

#define SAME_NS  INT64_C(60000000000)
#define OTHER_NS INT64_C(5000000000) /* words may change with each try */

bool culex__notice_tell(struct culex_notice *notice, const char *text, int64_t now_ns)
{
    bool is_same = strncmp(notice->text, text, sizeof notice->text - 1) == 0;
    if (notice->told_ns != 0 && now_ns - notice->told_ns < (is_same ? SAME_NS : OTHER_NS))
        return false;
    snprintf(notice->text, sizeof notice->text, "%s", text);
    notice->told_ns = now_ns;
    notice->is_standing = true;
    return true;
}

bool culex__notice_end(struct culex_notice *notice)
{
    bool was_standing = notice->is_standing;
    notice->is_standing = false;
    return was_standing;
}
