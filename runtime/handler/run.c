#include "handler/run.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "core/secret.h"
#include "handler/follow_up.h"

/* Secrets take at most their payload and, once more, what base64 makes of it, with their lengths.
 */
enum { SECRETS_MAX = 16 * CULEX_PAYLOAD_MAX };

struct culex_run *culex__run_create_within(size_t size)
{
    assert(size >= sizeof(struct culex_run));
    struct culex_run *run = calloc(1, size);
    if (run == NULL)
        return NULL;
    culex_buf_init(&run->result, 0);
    culex_buf_init(&run->follow_ups, CULEX_FOLLOW_UP_BYTES_MAX);
    culex_buf_init(&run->secrets, SECRETS_MAX);
    culex__news_init(&run->news);
    culex__kept_lines_init(&run->last_lines);
    return run;
}

struct culex_run *culex__run_create(void)
{
    return culex__run_create_within(sizeof(struct culex_run));
}

void culex__run_free(struct culex_run *run)
{
    if (run == NULL)
        return;
    free(run->payload);
    free(run->text);
    culex_buf_release(&run->result);
    culex_buf_release(&run->follow_ups);
    free(run->followed);
    culex_buf_release(&run->secrets);
    culex__news_release(&run->news);
    culex__kept_lines_release(&run->last_lines);
    free(run);
}

bool culex__run_make_room(struct culex_run *run, size_t len)
{
    if (len > run->payload_cap || run->payload_cap > CULEX_RUN_KEEP_BYTES) {
        size_t cap = len > 256 ? len : 256;
        char *grown = realloc(run->payload, cap);
        if (grown == NULL)
            return false;
        run->payload = grown;
        run->payload_cap = cap;
    }
    run->payload_len = len;
    return true;
}

bool culex__run_set_payload(struct culex_run *run, const void *payload, size_t len)
{
    if (!culex__run_make_room(run, len))
        return false;
    if (len > 0)
        memcpy(run->payload, payload, len);
    return true;
}

void culex__run_forget_secrets(struct culex_run *run)
{
    if (run->secrets.cap > CULEX_RUN_KEEP_BYTES)
        culex_buf_release(&run->secrets);
    culex__buf_cut(&run->secrets, 0);
    run->params_secrets_len = 0;
}

void culex__run_forget_follow_ups(struct culex_run *run)
{
    if (run->follow_ups.cap > CULEX_RUN_KEEP_BYTES)
        culex_buf_release(&run->follow_ups);
    culex__buf_cut(&run->follow_ups, 0);
    free(run->followed);
    run->followed = NULL;
    run->followed_count = 0;
}

struct culex_log_subject culex__run_subject(const struct culex_run *run)
{
    return (struct culex_log_subject){.queue = run->terms.queue,
                                      .job = run->job.type != NULL ? run->job.type->name : NULL,
                                      .id = &run->facts.id,
                                      .attempt = run->facts.attempt};
}

size_t culex__run_words(const culex_run *run, char ret_text[CULEX_LOG_TEXT_MAX], const char *format,
                        va_list list)
{
    char raw[CULEX_LOG_TEXT_MAX] = "";
    int len = format != NULL ? vsnprintf(raw, sizeof raw, format, list) : 0;
    size_t used = len < 0 ? 0 : (size_t)len < sizeof raw ? (size_t)len : sizeof raw - 1;
    return culex__secrets_scrub(&run->secrets, raw, used, (size_t)len > used, ret_text,
                                CULEX_LOG_TEXT_MAX);
}

void culex__run_set_text_list(culex_run *run, const char *format, va_list list)
{
    char words[CULEX_LOG_TEXT_MAX];
    if (run == NULL)
        return;
    run->end.text = NULL;
    if (format == NULL)
        return;
    size_t len = culex__run_words(run, words, format, list);
    if (len == 0)
        return;
    if (run->text == NULL)
        run->text = malloc(CULEX_ERROR_TEXT_MAX + 1);
    if (run->text == NULL) {
        run->end.text = "(no memory for the error text)";
        return;
    }
    culex__utf8_clean(run->text, CULEX_ERROR_TEXT_MAX + 1, words, len);
    run->end.text = run->text;
}

void culex__run_set_text(struct culex_run *run, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    culex__run_set_text_list(run, format, list);
    va_end(list);
}
