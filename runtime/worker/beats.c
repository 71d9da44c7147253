#include "worker/beats.h"

#include <string.h>

#include "base/buf.h"
#include "worker/acks.h"
#include "worker/flight.h"
#include "worker/solitude.h"
#include "worker/worker_private.h"

/* Stands for the place of a text: the beat carries no progress. */
#define NO_TEXT SIZE_MAX

void culex__beats_init(struct culex_lane *lane)
{
    culex_buf_init(&lane->beats.texts, 0);
}

void culex__beats_free(struct culex_lane *lane)
{
    culex_buf_release(&lane->beats.texts);
}

/* The texts go into a buffer of the step's: it may be sent again long after the run has ended. A
 * text for which there is no memory is told by the next beat. */
static size_t beat_add_progress(struct culex_beats *beats, struct culex_flight *flight, size_t i)
{
    char text[CULEX_PROGRESS_MAX + 1];
    size_t at = beats->texts.len;
    unsigned tag = culex__news_take_progress(&flight->run.news, flight->progress_told, text);
    beats->marks[i].progress_tag = flight->progress_told;
    if (tag == flight->progress_told ||
        culex__buf_append(&beats->texts, text, strlen(text) + 1) != CULEX_OK)
        return NO_TEXT;
    beats->marks[i].progress_tag = tag;
    return at;
}

/* Lines for which there is no room in this step come with the next one, or with the end. Returns
 * where they stand among the texts. */
static size_t beat_add_lines(struct culex_beats *beats, size_t i, size_t room)
{
    struct culex_log_lines *log = &beats->sent[i].log;
    struct culex_flight *flight = beats->marks[i].flight;
    size_t at = beats->texts.len;
    if (!culex__run_keeps_lines(&flight->run))
        return at;
    log->most = (uint32_t)flight->run.job.type->keep_log;
    beats->marks[i].lines_end =
        culex__news_copy_lines(&flight->run.news, log->most, room, &beats->texts);
    log->len = beats->texts.len - at;
    return at;
}

/* How much longer than the store knows the handler may run, from now; 0 for none. */
static int64_t extension_ns(const struct culex_flight *flight, int64_t now_ns)
{
    return flight->deadline_ns > flight->told_ns && flight->deadline_ns > now_ns
               ? flight->deadline_ns - now_ns
               : 0;
}

/* Where a beat's texts stand in the buffer, which moves as long as it grows. */
struct places {
    size_t progress, lines;
};

static void beat_add(struct culex_beats *beats, struct culex_flight *flight, int64_t now_ns,
                     struct places *ret_places)
{
    size_t i = beats->count++;
    int64_t more_ns = extension_ns(flight, now_ns);
    beats->sent[i] = (struct culex_beat){
        .id = flight->run.facts.id,
        .attempt = flight->run.facts.attempt,
        .is_started = atomic_load_explicit(&flight->run.started_ns, memory_order_relaxed) > 0,
        .is_excused = flight->is_excused,
        .extend_ms = (more_ns + CULEX_MS_NS - 1) / CULEX_MS_NS};
    beats->marks[i].flight = flight;
    beats->marks[i].told_ns = more_ns > 0 ? flight->deadline_ns : flight->told_ns;
    ret_places->progress = beat_add_progress(beats, flight, i);
    beats->marks[i].lines_end = 0;
}

/* As many as a step may bring beside those of its ends. Who had least of that goes first next time.
 */
static void beats_add_lines(struct culex_beats *beats, size_t ends_bytes, struct places *places)
{
    size_t room = ends_bytes < CULEX_STEP_LINE_BYTES ? CULEX_STEP_LINE_BYTES - ends_bytes : 0;
    size_t first = beats->count > 0 ? beats->lines_first % beats->count : 0;
    for (size_t n = 0; n < beats->count && room > 0; n++) {
        size_t i = (first + n) % beats->count;
        places[i].lines = beat_add_lines(beats, i, room);
        room -= beats->sent[i].log.len;
        if (beats->sent[i].log.len > 0)
            beats->lines_first = i + 1;
    }
}

static void texts_point(struct culex_beats *beats, const struct places *places)
{
    const char *texts = beats->texts.data;
    for (size_t i = 0; i < beats->count; i++) {
        beats->sent[i].progress = places[i].progress != NO_TEXT ? texts + places[i].progress : NULL;
        beats->sent[i].log.bytes = beats->sent[i].log.len > 0 ? texts + places[i].lines : NULL;
    }
}

/* Runs whose turn it is, and those whose handlers asked for more time. Whatever is half-way to its
 * next beat comes along, so that runs that began apart soon beat together. Those that do not fit
 * come next time. */
void culex__beats_add(struct culex_lane *lane, int64_t now_ns)
{
    struct culex_beats *beats = &lane->beats;
    int64_t pause_ns = culex__worker_beat_pause_ns(lane->worker);
    struct places places[CULEX_BATCH_MAX] = {{NO_TEXT, 0}};
    beats->count = 0;
    culex__buf_cut(&beats->texts, 0);
    if (now_ns < lane->beat_ns)
        return;
    lane->beat_ns = INT64_MAX;
    for (size_t i = 0; i < lane->flight_count; i++) {
        struct culex_flight *flight = lane->flights[i];
        int64_t due_ns = extension_ns(flight, now_ns) > 0 ? now_ns : flight->beat_ns + pause_ns;
        if (due_ns - pause_ns / 2 <= now_ns && beats->count < CULEX_BATCH_MAX) {
            beat_add(beats, flight, now_ns, &places[beats->count]);
            due_ns = now_ns + pause_ns;
        }
        if (due_ns < lane->beat_ns)
            lane->beat_ns = due_ns;
    }
    beats_add_lines(beats, lane->acks.line_bytes, places);
    texts_point(beats, places);
}

/* False when it has ended meanwhile, and its struct may carry another run. */
static bool beat_is_current(const struct culex_flight *flight, const struct culex_beat *beat)
{
    return flight->state == CULEX_FLIGHT_ALOFT &&
           culex__run_facts_match(&flight->run.facts, beat->id, beat->attempt);
}

static void beat_take_granted(struct culex_lane *lane, size_t i)
{
    const struct culex_beats *beats = &lane->beats;
    struct culex_flight *flight = beats->marks[i].flight;
    flight->progress_told = beats->marks[i].progress_tag;
    if (beats->sent[i].is_excused)
        culex__solitude_let_go(flight);
    culex__flight_renew(flight, lane->step.sent_ns, beats->marks[i].told_ns);
    culex__crew_renew(lane->worker, &flight->run);
}

/* The store has the lines that it brought. Their run may have ended since. */
static void beat_tell_lines(struct culex_lane *lane, size_t i)
{
    const struct culex_beats *beats = &lane->beats;
    const struct culex_beat *beat = &beats->sent[i];
    uint64_t end = beats->marks[i].lines_end;
    if (end == 0)
        return;
    if (beat_is_current(beats->marks[i].flight, beat))
        culex__news_lines_told(&beats->marks[i].flight->run.news, end);
    else
        culex__acks_tell_lines(lane, beat->id, beat->attempt, end);
}

void culex__beats_take(struct culex_lane *lane, const enum culex_answer *answers, bool lines_left)
{
    const struct culex_beats *beats = &lane->beats;
    for (size_t i = 0; i < beats->count; i++) {
        struct culex_flight *flight = beats->marks[i].flight;
        if (!lines_left && answers[i] != CULEX_ANSWER_STALE && answers[i] != CULEX_ANSWER_GONE)
            beat_tell_lines(lane, i);
        if (!beat_is_current(flight, &beats->sent[i]))
            continue;
        if (answers[i] == CULEX_ANSWER_STALE || answers[i] == CULEX_ANSWER_GONE) {
            culex__flight_lose(flight);
            continue;
        }
        beat_take_granted(lane, i);
        if (answers[i] == CULEX_ANSWER_CANCEL)
            culex__flight_cancel(flight);
    }
}
