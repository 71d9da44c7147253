/* fuzz_child - any bytes as what a child with a broken heap sends and writes into its mailbox. The
 * input is a play of steps, each a letter and what belongs to it:
 *
 *   r            a run is assigned and sent          t            the newest run is taken back
 *   m LL packet  the child sends a packet            e end        it fills the next end
 *   s            what it asks of the store is served
 *
 * LL is a length, low byte first. The first lie ends the play, as it ends a child. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "executor/errand_desk.h"
#include "executor/window.h"
#include "fuzz.h"

unsigned fuzz_taken;

struct play {
    struct culex_log log;
    struct culex_window window;
    struct culex_errand_desk desk;
    const uint8_t *at;
    size_t left;
    bool has_end; /* of a run with a text or a result */
    bool has_errand;
};

static const void *bytes_take(struct play *play, size_t size)
{
    const uint8_t *bytes = play->at;
    if (size > play->left)
        return NULL;
    play->at += size;
    play->left -= size;
    return bytes;
}

static void run_check(const struct culex_run *run)
{
    if (run->result.len > CULEX_PAYLOAD_MAX)
        abort();
    if (run->text != NULL && !culex__utf8_is_valid(run->text, strlen(run->text)))
        abort();
    if (run->text != NULL && strlen(run->text) > CULEX_ERROR_TEXT_MAX)
        abort();
}

static void window_check(const struct culex_window *window)
{
    size_t live = 0;
    if (window->assigned < window->sent || window->sent < window->finished ||
        window->assigned - window->finished > CULEX_WINDOW)
        abort();
    for (size_t i = 0; i < CULEX_WINDOW; i++) {
        const struct culex_window_entry *entry = &window->entries[i];
        live += entry->run != NULL;
        if (entry->run != NULL && (entry->seq <= window->finished || entry->seq > window->assigned))
            abort();
        if (entry->run != NULL)
            run_check(entry->run);
    }
    if (live != window->live)
        abort();
}

static bool run_step(struct play *play)
{
    if (culex__window_is_full(&play->window))
        return false;
    struct culex_run *run = culex__run_create();
    if (run == NULL)
        return false;
    run->log = &play->log;
    culex__window_add(&play->window, run);
    play->window.sent = play->window.assigned;
    return true;
}

static bool take_back_step(struct play *play)
{
    struct culex_window_entry *entry = culex__window_find(&play->window, play->window.sent);
    if (entry != NULL)
        culex__run_free(culex__window_remove(&play->window, entry));
    return true;
}

/* As the supervisor hands them on; the log's lines and the announcements end there. */
static const char *message_take(struct play *play, const struct culex_child_message *message)
{
    switch (message->type) {
    case CULEX_RECORD_WAKE:
    case CULEX_RECORD_LOG:
    case CULEX_RECORD_READY:
    case CULEX_RECORD_UNREADY:
        return NULL;
    case CULEX_RECORD_ERRAND:
        return culex__errand_desk_take(&play->desk, message);
    default:
        return culex__window_take(&play->window, message);
    }
}

static bool message_step(struct play *play)
{
    struct culex_child_message message;
    const uint8_t *head = bytes_take(play, 2);
    size_t len = head != NULL ? (size_t)(head[0] | head[1] << 8) : 0;
    const void *bytes = head != NULL ? bytes_take(play, len) : NULL;
    if (bytes == NULL || culex__child_message_parse(bytes, len, &message) != NULL)
        return false;
    bool is_text = message.type != CULEX_RECORD_RESULT && message.type != CULEX_RECORD_EXTEND &&
                   message.type != CULEX_RECORD_ERRAND;
    if (is_text && !culex__utf8_is_valid(message.bytes, message.len))
        abort();
    return message_take(play, &message) == NULL;
}

static void errand_serve(void *user, const char *bytes, size_t len, culex_buf *answer)
{
    (void)user;
    if (len == 0 || len > CULEX_ERRAND_MAX || culex__buf_append(answer, bytes, len) != CULEX_OK)
        abort();
}

/* Serves the errand, and sends its answer by parts. */
static bool serve_step(struct play *play)
{
    static char packet[CULEX_PACKET_MAX];
    if (!play->desk.is_whole)
        return false;
    culex__errand_desk_serve(&play->desk, errand_serve, NULL);
    while (culex__errand_desk_has_answer(&play->desk)) {
        size_t len = culex__errand_desk_write(&play->desk, packet);
        if (len > sizeof packet)
            abort();
        culex__errand_desk_sent(&play->desk, len);
    }
    play->has_errand = true;
    return true;
}

static void end_check(struct play *play, const struct culex_run *run)
{
    const struct culex_execution_end *end = &run->end;
    run_check(run);
    if (end->event != CULEX_EVENT_DONE && end->event != CULEX_EVENT_FAIL &&
        end->event != CULEX_EVENT_RELEASE && end->event != CULEX_EVENT_DISCARD)
        abort();
    if ((end->event == CULEX_EVENT_FAIL || end->event == CULEX_EVENT_DISCARD) && end->text == NULL)
        abort();
    if (end->delay_ms < 0 || end->duration_ns < 0)
        abort();
    play->has_end =
        play->has_end || run->has_result || (end->text != NULL && end->text == run->text);
}

static bool end_step(struct play *play)
{
    struct culex_mailbox_end end;
    struct culex_run *run = NULL;
    bool is_skipped = false;
    const void *bytes = bytes_take(play, sizeof end);
    if (bytes == NULL || play->window.finished == play->window.sent)
        return false;
    memcpy(&end, bytes, sizeof end);
    if (culex__window_end(&play->window, &end, &run, &is_skipped) != NULL)
        return false;
    if (run != NULL && !is_skipped)
        end_check(play, run);
    culex__run_free(run);
    return true;
}

static bool step(struct play *play)
{
    const uint8_t *letter = bytes_take(play, 1);
    switch (letter != NULL ? *letter : 0) {
    case 'r':
        return run_step(play);
    case 't':
        return take_back_step(play);
    case 'm':
        return message_step(play);
    case 'e':
        return end_step(play);
    case 's':
        return serve_step(play);
    default:
        return false;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct play play = {.log = {.env = culex__env_system()}, .at = data, .left = size};
    while (step(&play))
        window_check(&play.window);
    window_check(&play.window);
    fuzz_taken += (play.has_end || play.has_errand) && play.left == 0;
    culex__errand_desk_clear(&play.desk);
    for (size_t i = 0; i < CULEX_WINDOW; i++)
        culex__run_free(play.window.entries[i].run);
    return 0;
}
