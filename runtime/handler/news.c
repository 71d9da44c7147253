#include "handler/news.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/instant.h"

void culex__news_init(struct culex_run_news *news)
{
    pthread_mutex_init(&news->lock, NULL);
    culex__kept_lines_init(&news->lines);
}

void culex__news_release(struct culex_run_news *news)
{
    pthread_mutex_destroy(&news->lock);
    culex__kept_lines_release(&news->lines);
}

static void news_announce(struct culex_run_news *news)
{
    if (news->has_news != NULL)
        atomic_store_explicit(news->has_news, true, memory_order_release);
}

void culex__news_progress(struct culex_run_news *news, const char *text)
{
    pthread_mutex_lock(&news->lock);
    snprintf(news->progress, sizeof news->progress, "%s", text);
    news->progress_tag += news->progress_tag == UINT_MAX ? 2 : 1;
    pthread_mutex_unlock(&news->lock);
}

void culex__news_extend(struct culex_run_news *news, const struct culex_env *env, int64_t extend_ms)
{
    int64_t until_ns = culex__after_ms(culex__env_boottime_ns(env), extend_ms);
    pthread_mutex_lock(&news->lock);
    if (until_ns > news->until_ns)
        news->until_ns = until_ns;
    pthread_mutex_unlock(&news->lock);
    news_announce(news);
}

int64_t culex__news_until_ns(struct culex_run_news *news)
{
    pthread_mutex_lock(&news->lock);
    int64_t until_ns = news->until_ns;
    pthread_mutex_unlock(&news->lock);
    return until_ns;
}

unsigned culex__news_take_progress(struct culex_run_news *news, unsigned told,
                                   char ret_text[CULEX_PROGRESS_MAX + 1])
{
    pthread_mutex_lock(&news->lock);
    unsigned tag = news->progress_tag;
    if (tag != told)
        memcpy(ret_text, news->progress, sizeof news->progress);
    pthread_mutex_unlock(&news->lock);
    return tag;
}

void culex__news_line(struct culex_run_news *news, const char *line, size_t len)
{
    pthread_mutex_lock(&news->lock);
    culex__kept_lines_add(&news->lines, line, len);
    pthread_mutex_unlock(&news->lock);
}

uint64_t culex__news_copy_lines(struct culex_run_news *news, uint32_t most, size_t room,
                                culex_buf *ret_lines)
{
    struct culex_kept_lines *lines = &news->lines;
    uint64_t end = 0;
    pthread_mutex_lock(&news->lock);
    culex__kept_lines_cut(lines, most);
    size_t len = culex__kept_lines_fit(lines, room);
    if (len > 0 && culex__buf_append(ret_lines, lines->bytes.data, len) == CULEX_OK)
        end = lines->before + len;
    pthread_mutex_unlock(&news->lock);
    return end;
}

void culex__news_lines_told(struct culex_run_news *news, uint64_t end)
{
    pthread_mutex_lock(&news->lock);
    culex__kept_lines_told(&news->lines, end);
    pthread_mutex_unlock(&news->lock);
}

void culex__news_take_lines(struct culex_run_news *news, struct culex_kept_lines *ret_lines)
{
    pthread_mutex_lock(&news->lock);
    culex__kept_lines_move(&news->lines, ret_lines);
    pthread_mutex_unlock(&news->lock);
}

void culex__news_reset(struct culex_run_news *news, atomic_bool *has_news)
{
    pthread_mutex_lock(&news->lock);
    news->until_ns = 0;
    news->progress_tag = 0;
    culex__kept_lines_reset(&news->lines);
    news->has_news = has_news;
    pthread_mutex_unlock(&news->lock);
}
