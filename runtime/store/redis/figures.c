/* store/redis/figures.c - FIGURES_ADD and FIGURES: what workers count of runs. */
#include "store/redis/redis.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "core/figures.h"
#include "core/number.h"
#include "store/argument.h"
#include "store/figure_list.h"
#include "store/redis/scripts.h"
#include "store/refusal.h"

culex_status culex__redis_figures_add(struct culex_store *base, const char *queue,
                                      const char *session, uint64_t number,
                                      const struct culex_figure_row *rows, size_t count,
                                      culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_figures_add;
    redisReply *reply = NULL;
    assert(culex__argument_figures_add(queue, session, number, rows, count, NULL) == CULEX_OK);
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_text(&redis->request, session);
    culex__redis_request_int(&redis->request, (int64_t)number);
    for (size_t i = 0; i < count; i++) {
        culex__redis_request_text(&redis->request, rows[i].job);
        culex__redis_request_text(&redis->request, rows[i].text);
    }
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    if (reply->type != REDIS_REPLY_INTEGER || reply->integer < 0 || reply->integer > 1)
        status = culex__redis_bad_reply(redis, script->name, error);
    else if (reply->integer == 0)
        status = culex__refuse_queue(queue, error);
    freeReplyObject(reply);
    return status;
}

/* --- FIGURES -------------------------------------------------------------------------------- */

/* As redis/lib_figures.lua makes the name of a row. */
enum { HOUR_DIGITS = 8, NAME_SIZE = HOUR_DIGITS + 1 + CULEX_JOB_NAME_MAX + 1 };

/* Without its leading zeros. */
static bool hour_read(const char *name, int64_t *ret_hour)
{
    size_t zeros = strspn(name, "0");
    if (zeros >= HOUR_DIGITS)
        zeros = HOUR_DIGITS - 1;
    return culex__int64_parse(name + zeros, HOUR_DIGITS - zeros, ret_hour);
}

/* ORDER FIGURES: now, whether more follow, and of each row, as redis/figures.lua answers. */
enum { PAGE_NOW, PAGE_MORE, PAGE_HEAD, ROW_NAME = 0, ROW_TEXT, ROW_ITEMS };

/* What its text says is for the caller. */
static bool row_read(const redisReply *reply, size_t at, struct culex_figure_row *ret_row)
{
    const char *name, *text;
    size_t name_len, text_len;
    if (!culex__redis_reply_text(reply, at + ROW_NAME, &name, &name_len) ||
        !culex__redis_reply_text(reply, at + ROW_TEXT, &text, &text_len) ||
        strlen(name) != name_len || name_len <= HOUR_DIGITS || name_len >= NAME_SIZE ||
        name[HOUR_DIGITS] != '|' || !hour_read(name, &ret_row->hour))
        return false;
    ret_row->job = name + HOUR_DIGITS + 1;
    ret_row->text = text;
    return true;
}

static culex_status page_read(struct culex__redis *redis, const redisReply *reply, size_t most,
                              struct culex_figure_list *list, culex_error *error)
{
    struct culex_figure_row row;
    int64_t more;
    if (!culex__redis_reply_int(reply, PAGE_NOW, &list->now_ms) ||
        !culex__redis_reply_int(reply, PAGE_MORE, &more) ||
        (reply->elements - PAGE_HEAD) % ROW_ITEMS != 0 ||
        (reply->elements - PAGE_HEAD) / ROW_ITEMS > most)
        return culex__redis_bad_reply(redis, "FIGURES", error);
    list->is_more = more == 1;
    for (size_t at = PAGE_HEAD; at < reply->elements; at += ROW_ITEMS) {
        if (!row_read(reply, at, &row))
            return culex__redis_bad_reply(redis, "FIGURES", error);
        if (!culex__figure_list_add(list, &row))
            return culex__fail(error, CULEX_ENOMEM, "no memory for figures");
    }
    return CULEX_OK;
}

culex_status culex__redis_figures(struct culex_store *base, const char *queue, const char *job,
                                  unsigned hours, const struct culex_figure_row *after, size_t most,
                                  struct culex_figure_list *ret_list, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_figures;
    struct culex_figure_list list = {.rows = NULL};
    redisReply *reply = NULL;
    char name[NAME_SIZE];
    assert(culex__argument_figures(queue, job, hours, after, most, NULL) == CULEX_OK);
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_int(&redis->request, hours);
    culex__redis_request_int(&redis->request, (int64_t)most);
    culex__redis_request_text(&redis->request, job != NULL ? job : "");
    if (after != NULL) {
        snprintf(name, sizeof name, "%0*lld|%s", HOUR_DIGITS, (long long)(after->hour % 100000000),
                 after->job);
        culex__redis_request_text(&redis->request, name);
    }
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = page_read(redis, reply, most, &list, error);
    freeReplyObject(reply);
    if (status == CULEX_OK)
        *ret_list = list;
    else
        culex__figure_list_release(&list);
    return status;
}
