#include "executor/window.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/instant.h"
#include "core/end_text.h"
#include "core/run.h"

/* What window.h promises of the numbers. */
static void window_assert(const struct culex_window *window)
{
    assert(window->assigned >= window->sent && window->sent >= window->finished);
    assert(window->assigned - window->finished <= CULEX_WINDOW);
    assert(window->live <= window->assigned - window->finished);
    (void)window;
}

struct culex_window_entry *culex__window_find(struct culex_window *window, uint64_t seq)
{
    struct culex_window_entry *entry = &window->entries[culex__mailbox_index(seq)];
    return seq != 0 && entry->seq == seq ? entry : NULL;
}

struct culex_window_entry *culex__window_add(struct culex_window *window, struct culex_run *run)
{
    assert(!culex__window_is_full(window));
    uint64_t seq = ++window->assigned;
    struct culex_window_entry *entry = &window->entries[culex__mailbox_index(seq)];
    *entry = (struct culex_window_entry){
        .seq = seq, .run = run, .term_ns = INT64_MAX, .kill_ns = INT64_MAX};
    window->has_asked = window->has_asked && window->live > 0;
    window->live++;
    run->has_result = false;
    run->result.len = 0;
    culex__run_forget_follow_ups(run);
    window_assert(window);
    return entry;
}

void culex__window_ask(struct culex_window *window, struct culex_window_entry *entry,
                       int64_t term_ns, int64_t kill_ns)
{
    entry->term_ns = culex__min_ns(entry->term_ns, term_ns);
    entry->kill_ns = culex__min_ns(entry->kill_ns, kill_ns);
    window->has_asked = true;
}

struct culex_run *culex__window_remove(struct culex_window *window,
                                       struct culex_window_entry *entry)
{
    struct culex_run *run = entry->run;
    assert(entry->seq > window->finished && (run == NULL || window->live > 0));
    if (run != NULL)
        window->live--;
    entry->run = NULL;
    return run;
}

struct culex_run *culex__window_unassign(struct culex_window *window)
{
    struct culex_window_entry *entry = culex__window_find(window, window->assigned);
    assert(window->assigned > window->sent && entry != NULL);
    struct culex_run *run = culex__window_remove(window, entry);
    entry->seq = 0;
    window->assigned--;
    window_assert(window);
    return run;
}

/* --- messages -------------------------------------------------------------------------- */

static void text_take(struct culex_window_entry *entry, const struct culex_child_message *message)
{
    struct culex_run *run = entry->run;
    entry->has_text = true;
    if (run == NULL)
        return;
    if (run->text == NULL)
        run->text = malloc(CULEX_ERROR_TEXT_MAX + 1);
    if (run->text == NULL)
        return;
    memcpy(run->text, message->bytes, message->len);
    run->text[message->len] = '\0';
}

/* Of a result or of follow-ups. Parts come in order and name one total; `offset` is where the part
 * before ended. `whole` is NULL for a run that was taken back. */
static const char *part_take(culex_buf *whole, bool *has_whole,
                             const struct culex_child_message *message)
{
    if (*has_whole)
        return "more than one result, or follow-ups twice";
    if (whole == NULL) {
        *has_whole = message->offset + message->len == message->total;
        return NULL;
    }
    if (message->offset != 0 && message->offset != whole->len)
        return "parts of a result or of follow-ups out of order";
    culex__buf_cut(whole, message->offset);
    if (culex__buf_append(whole, message->bytes, message->len) != CULEX_OK)
        return "a result that is too long, or follow-ups";
    *has_whole = whole->len == message->total;
    return NULL;
}

const char *culex__window_take(struct culex_window *window,
                               const struct culex_child_message *message)
{
    if (message->seq == 0 || message->seq > window->sent)
        return "a message about a run that it does not have";
    struct culex_window_entry *entry = culex__window_find(window, message->seq);
    if (message->seq <= window->finished || entry == NULL) {
        bool is_late = message->type == CULEX_RECORD_PROGRESS ||
                       message->type == CULEX_RECORD_EXTEND || message->type == CULEX_RECORD_KEPT;
        return is_late ? NULL : "an end of a run that has ended";
    }
    char progress[CULEX_PROGRESS_MAX + 1];
    switch (message->type) {
    case CULEX_RECORD_PROGRESS:
        entry->reports++;
        memcpy(progress, message->bytes, message->len);
        progress[message->len] = '\0';
        if (entry->run != NULL)
            culex__news_progress(&entry->run->news, progress);
        return NULL;
    case CULEX_RECORD_EXTEND:
        if (entry->run != NULL)
            culex__news_extend(&entry->run->news, entry->run->log->env, message->extend_ms);
        return NULL;
    case CULEX_RECORD_KEPT:
        entry->reports++;
        if (entry->run != NULL && culex__run_keeps_lines(entry->run))
            culex__news_line(&entry->run->news, message->bytes, message->len);
        return NULL;
    case CULEX_RECORD_TEXT:
        text_take(entry, message);
        return NULL;
    case CULEX_RECORD_FOLLOW_UPS:
        return part_take(entry->run != NULL ? &entry->run->follow_ups : NULL,
                         &entry->has_follow_ups, message);
    default:
        return part_take(entry->run != NULL ? &entry->run->result : NULL, &entry->has_result,
                         message);
    }
}

/* --- ends ------------------------------------------------------------------------------ */

bool culex__window_is_complete(const struct culex_window *window,
                               const struct culex_mailbox_end *end)
{
    uint64_t seq = window->finished + 1;
    const struct culex_window_entry *entry = &window->entries[culex__mailbox_index(seq)];
    bool lacks_text = (end->flags & CULEX_END_TEXT) != 0 && !entry->has_text;
    bool lacks_result = (end->flags & CULEX_END_RESULT) != 0 && !entry->has_result;
    bool lacks_more = (end->flags & CULEX_END_FOLLOW_UPS) != 0 && !entry->has_follow_ups;
    return !lacks_text && !lacks_result && !lacks_more;
}

bool culex__window_is_heard(const struct culex_window *window, const struct culex_mailbox_end *end)
{
    return window->entries[culex__mailbox_index(window->finished + 1)].reports >= end->reports;
}

static const char *end_check(const struct culex_mailbox_end *end, uint64_t seq)
{
    if (end->seq != seq)
        return "the end of another run";
    if ((end->flags & CULEX_END_SKIPPED) != 0)
        return NULL;
    if (!culex__run_event_is_childs(end->event))
        return "an end of an unknown kind";
    if (end->delay_ms < 0 || end->duration_ns < 0 || end->started_ns < 0)
        return "an end with a negative time";
    return NULL;
}

/* Not after it was seen at work: a timeout counts from there. */
static void started_fill(struct culex_run *run, int64_t told_ns)
{
    int64_t seen_ns = atomic_load_explicit(&run->started_ns, memory_order_relaxed);
    if (told_ns > 0 && (seen_ns == 0 || told_ns < seen_ns))
        atomic_store_explicit(&run->started_ns, told_ns, memory_order_relaxed);
}

/* By the child's own start: it was seen at work before, where its line in the log had to wait. */
static int64_t ended_ns(const struct culex_mailbox_end *end)
{
    bool is_told = end->started_ns > 0 && end->duration_ns <= INT64_MAX - end->started_ns;
    return is_told ? end->started_ns + end->duration_ns : 0;
}

static void end_fill(struct culex_run *run, const struct culex_window_entry *entry,
                     const struct culex_mailbox_end *end)
{
    run->end = (struct culex_execution_end){
        .event = (enum culex_run_event)end->event,
        .is_snoozed = (end->flags & CULEX_END_SNOOZED) != 0,
        .is_not_understood = (end->flags & CULEX_END_NOT_UNDERSTOOD) != 0,
        .delay_ms = end->delay_ms,
        .duration_ns = end->duration_ns,
        .ended_ns = ended_ns(end),
    };
    if ((end->flags & CULEX_END_TEXT) != 0)
        run->end.text = run->text != NULL ? run->text : "(no memory for the error text)";
    else if (end->event == CULEX_EVENT_FAIL || end->event == CULEX_EVENT_DISCARD)
        run->end.text = CULEX__HANDLER_NO_REASON_TEXT;
    run->has_result = (end->flags & CULEX_END_RESULT) != 0 && entry->has_result;
    if ((end->flags & CULEX_END_FOLLOW_UPS) == 0)
        culex__run_forget_follow_ups(run);
    started_fill(run, end->started_ns);
}

const char *culex__window_end(struct culex_window *window, const struct culex_mailbox_end *end,
                              struct culex_run **ret_run, bool *ret_is_skipped)
{
    uint64_t seq = window->finished + 1;
    struct culex_window_entry *entry = culex__window_find(window, seq);
    const char *wrong = entry != NULL ? end_check(end, seq) : "the end of a run it does not have";
    if (wrong == NULL && !culex__window_is_complete(window, end))
        wrong = "an end without its text, result or follow-ups";
    if (wrong != NULL)
        return wrong;
    *ret_is_skipped = (end->flags & CULEX_END_SKIPPED) != 0;
    *ret_run = entry->run;
    if (entry->run != NULL && !*ret_is_skipped)
        end_fill(entry->run, entry, end);
    culex__window_remove(window, entry);
    entry->seq = 0;
    window->finished = seq;
    window_assert(window);
    return NULL;
}
