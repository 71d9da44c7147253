/* handler/news.h - what a handler reports while it runs, for the next beat: progress, the wish for
 * more time, and log lines to keep. One thread reports, the supervisor takes. */
#ifndef CULEX_HANDLER_NEWS_H
#define CULEX_HANDLER_NEWS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "handler/kept_lines.h"
#include "platform/env.h"

struct culex_run_news {
    pthread_mutex_t lock;  /* guards the rest */
    int64_t until_ns;      /* boot time until which it asked for more time, 0 for none */
    unsigned progress_tag; /* changes with every report, 0 for none yet */
    char progress[CULEX_PROGRESS_MAX + 1];
    struct culex_kept_lines lines;
    atomic_bool *has_news; /* the executor's: tells the supervisor to look */
};

void culex__news_init(struct culex_run_news *news);
void culex__news_release(struct culex_run_news *news);

/* Forgets all reports; `has_news` is raised with each new extension, may be NULL. */
void culex__news_reset(struct culex_run_news *news, atomic_bool *has_news);

/* From any thread; `text` is valid UTF-8 of at most CULEX_PROGRESS_MAX bytes and copied. */
void culex__news_progress(struct culex_run_news *news, const char *text);
void culex__news_extend(struct culex_run_news *news, const struct culex_env *env,
                        int64_t extend_ms);

/* A line as culex__kept_line_write makes it. */
void culex__news_line(struct culex_run_news *news, const char *line, size_t len);

/* The supervisor's side of it. Boot time until which the handler asked for, 0 for none. */
int64_t culex__news_until_ns(struct culex_run_news *news);

/* The tag of the newest progress; its text too when that is not `told`, 0 for none. */
unsigned culex__news_take_progress(struct culex_run_news *news, unsigned told,
                                   char ret_text[CULEX_PROGRESS_MAX + 1]);

/* Appends the lines to `ret_lines`, of which a run keeps at most `most`, as many as fit into `room`
 * bytes, and tells where they end; they stay. 0 when there are none, or no memory: then `ret_lines`
 * is as it was. */
uint64_t culex__news_copy_lines(struct culex_run_news *news, uint32_t most, size_t room,
                                culex_buf *ret_lines);

/* The store has all up to `end`, as the call above told it. */
void culex__news_lines_told(struct culex_run_news *news, uint64_t end);

/* Moves all lines to `ret_lines`, which has none. */
void culex__news_take_lines(struct culex_run_news *news, struct culex_kept_lines *ret_lines);

#endif
