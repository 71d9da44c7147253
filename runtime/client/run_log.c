/* client/run_log.c - the log lines that a run has kept, as programs and operators read them. */
#include <culex/lines.h>

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "client/client_private.h"
#include "core/run_log.h"

struct call {
    const char *queue;
    culex_uuid id;
    culex_buf *bytes;
};

static culex_status log_ask(struct culex_store *store, void *user, culex_error *error)
{
    const struct call *call = user;
    culex__buf_cut(call->bytes, 0); /* of an attempt before */
    return store->ops->run_log(store, call->queue, call->id, call->bytes, error);
}

/* How many lines there are; false when something is none. */
static bool lines_count(const culex_buf *bytes, size_t *ret_count)
{
    struct culex_kept_line line;
    *ret_count = 0;
    for (size_t at = 0, used; at < bytes->len; at += used) {
        used = culex__kept_line_read(bytes->data + at, bytes->len - at, &line);
        if (used == 0)
            return false;
        ++*ret_count;
    }
    return true;
}

static culex_run_line line_make(const struct culex_kept_line *kept, char *text)
{
    memcpy(text, kept->text, kept->len);
    text[kept->len] = '\0';
    return (culex_run_line){.at = kept->ms * CULEX_MILLISECOND,
                            .attempt = kept->attempt,
                            .level = (culex_log_level)kept->level,
                            .text = text};
}

/* One block: the lines, and behind them their texts. A text and its NUL take no more than its line
 * did. */
static culex_run_lines *lines_make(const culex_buf *bytes, size_t count)
{
    culex_run_lines *lines = malloc(sizeof *lines + count * sizeof lines->items[0] + bytes->len);
    struct culex_kept_line kept;
    if (lines == NULL)
        return NULL;
    *lines = (culex_run_lines){.count = count, .items = (culex_run_line *)(void *)(lines + 1)};
    char *text = (char *)(lines->items + count);
    for (size_t i = 0, at = 0; i < count; i++) {
        at += culex__kept_line_read(bytes->data + at, bytes->len - at, &kept);
        lines->items[i] = line_make(&kept, text);
        text += kept.len + 1;
    }
    return lines;
}

culex_status culex_client_run_log(culex_client *client, const char *queue, culex_uuid id,
                                  culex_run_lines **ret_lines, culex_error *error)
{
    culex_buf bytes;
    size_t count = 0;
    struct call call = {queue, id, &bytes};
    if (ret_lines != NULL)
        *ret_lines = NULL;
    if (client == NULL || ret_lines == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           client == NULL ? "no client" : "no place for the lines");
    culex_buf_init(&bytes, 0);
    culex_status status = culex__client_perform(client, log_ask, &call, error);
    if (status == CULEX_OK && !lines_count(&bytes, &count))
        status = culex__fail(error, CULEX_ECORRUPT, "the run's log lines are damaged");
    if (status == CULEX_OK && (*ret_lines = lines_make(&bytes, count)) == NULL)
        status = culex__fail(error, CULEX_ENOMEM, "no memory for the run's log lines");
    culex_buf_release(&bytes);
    return status;
}

void culex_run_lines_free(culex_run_lines *lines)
{
    free(lines);
}
