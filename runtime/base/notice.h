/* base/notice.h - when to write a line about trouble that is met again and again. */
#ifndef CULEX_BASE_NOTICE_H
#define CULEX_BASE_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing was told yet. */
struct culex_notice {
    int64_t told_ns; /* boot time */
    bool is_standing;
    char text[256]; /* as told last */
};

/* True, and taken for told, when `text` should be told now: at first, other words after some
 * seconds, since they are news, and the same ones once a minute. */
bool culex__notice_tell(struct culex_notice *notice, const char *text, int64_t now_ns);

/* True, once, when the trouble that was told is over. */
bool culex__notice_end(struct culex_notice *notice);

#endif
