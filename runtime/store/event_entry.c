/* store/event_entry.c - entries of events: written, and read with distrust. */
#include "store/event_entry.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "core/number.h"

static const char letters[] = "NUSDFKLRXCYMGEPQ";
static_assert(sizeof letters - 1 == CULEX_EVENTS_KIND_COUNT, "a letter for each kind");

enum {
    HEAD_SIZE = 64, /* of the first line of an entry or of a stretch, without the job, with a NUL */
    RUNS_DIGITS = 7,
    ID_BYTES = sizeof(culex_uuid),
    LOW_BYTES = 4,       /* of an id, that count up within a span */
    TEXT_MAX = 16 << 20, /* far beyond what a call can tell */
};
static_assert(CULEX_EVENT_SPAN_SIZE == sizeof(culex_uuid) + 2, "an id and how many");

/* --- spans ----------------------------------------------------------------------------------- */

static uint32_t low_of(const unsigned char *id)
{
    const unsigned char *low = id + ID_BYTES - LOW_BYTES;
    return (uint32_t)low[0] << 24 | (uint32_t)low[1] << 16 | (uint32_t)low[2] << 8 | low[3];
}

static unsigned span_runs(const unsigned char *span)
{
    return (unsigned)span[ID_BYTES] << 8 | span[ID_BYTES + 1];
}

static void span_runs_set(unsigned char *span, unsigned runs)
{
    span[ID_BYTES] = (unsigned char)(runs >> 8);
    span[ID_BYTES + 1] = (unsigned char)runs;
}

/* Whether `id` is the next one behind those of the span. */
static bool span_goes_on(const unsigned char *span, const culex_uuid *id)
{
    unsigned runs = span_runs(span);
    return memcmp(span, id->b, ID_BYTES - LOW_BYTES) == 0 && runs < CULEX_EVENT_SPAN_MAX &&
           (uint64_t)low_of(span) + runs == low_of(id->b);
}

/* Whether the span that ends at `end` could take the run. */
static bool span_join(void *end, const culex_uuid *id)
{
    unsigned char *last = (unsigned char *)end - CULEX_EVENT_SPAN_SIZE;
    if (!span_goes_on(last, id))
        return false;
    span_runs_set(last, span_runs(last) + 1);
    return true;
}

static void span_write(void *at, const culex_uuid *id)
{
    memcpy(at, id->b, ID_BYTES);
    span_runs_set(at, 1);
}

size_t culex__event_span_add(unsigned char *spans, size_t len, const culex_uuid *id)
{
    assert(len % CULEX_EVENT_SPAN_SIZE == 0);
    if (len > 0 && span_join(spans + len, id))
        return len;
    span_write(spans + len, id);
    return len + CULEX_EVENT_SPAN_SIZE;
}

/* --- writing --------------------------------------------------------------------------------- */

static void runs_write(struct culex_event_notes *notes)
{
    char *digits = notes->text.data + notes->runs_at;
    uint64_t left = notes->runs;
    for (size_t at = RUNS_DIGITS; at > 0; left /= 10)
        digits[--at] = (char)('0' + left % 10);
}

/* How many runs the last stretch has, into its head: once, as the runs come by hundreds. */
static void stretch_end(struct culex_event_notes *notes)
{
    if (notes->runs > 0)
        runs_write(notes);
    notes->runs = 0;
}

static bool is_alike(const struct culex_event_notes *notes, culex_events_kind kind, uint32_t number,
                     const char *job)
{
    if (notes->runs == 0 || notes->kind != kind || notes->number != number)
        return false;
    size_t len = strlen(job);
    return notes->job_at + len + 1 == notes->spans_at &&
           memcmp(notes->text.data + notes->job_at, job, len) == 0;
}

static bool stretch_begin(struct culex_event_notes *notes, culex_events_kind kind, uint32_t number,
                          const char *job)
{
    char head[HEAD_SIZE];
    stretch_end(notes);
    int len =
        snprintf(head, sizeof head, "%c|%" PRIu32 "|%0*d|", letters[kind], number, RUNS_DIGITS, 0);
    notes->text.max = TEXT_MAX;
    if (culex__buf_append(&notes->text, head, (size_t)len) != CULEX_OK ||
        culex__buf_append(&notes->text, job, strlen(job)) != CULEX_OK ||
        culex__buf_append(&notes->text, "\n", 1) != CULEX_OK)
        return false;
    notes->spans_at = notes->text.len;
    notes->job_at = notes->spans_at - strlen(job) - 1;
    notes->runs_at = notes->job_at - 1 - RUNS_DIGITS;
    notes->kind = kind;
    notes->number = number;
    return true;
}

/* Of most runs this only counts one up. */
static bool span_add(struct culex_event_notes *notes, const culex_uuid *id)
{
    culex_buf *text = &notes->text;
    if (text->len > notes->spans_at && span_join(text->data + text->len, id))
        return true;
    if (culex__buf_reserve(text, CULEX_EVENT_SPAN_SIZE) != CULEX_OK)
        return false;
    span_write(text->data + text->len, id);
    text->len += CULEX_EVENT_SPAN_SIZE;
    return true;
}

void culex__event_note(struct culex_event_notes *notes, culex_events_kind kind, uint32_t number,
                       const culex_uuid *id, const char *job)
{
    job = job != NULL ? job : "";
    bool is_room = is_alike(notes, kind, number, job) || stretch_begin(notes, kind, number, job);
    if (!is_room || !span_add(notes, id)) {
        notes->is_out_of_memory = true;
        return;
    }
    notes->runs++;
    notes->count++;
}

void culex__event_notes_clear(struct culex_event_notes *notes)
{
    notes->text.len = 0;
    notes->runs = notes->count = 0;
    notes->is_out_of_memory = false;
}

void culex__event_notes_release(struct culex_event_notes *notes)
{
    free(notes->text.data);
    *notes = (struct culex_event_notes){.count = 0};
}

/* Goes in front of the text. */
static bool text_begin(culex_buf *text, const char *before, size_t before_len, const char *head,
                       size_t head_len)
{
    size_t len = before_len + head_len;
    text->max = TEXT_MAX + CULEX_EVENT_BEFORE_MAX;
    if (culex__buf_reserve(text, len) != CULEX_OK)
        return false;
    memmove(text->data + len, text->data, text->len);
    if (before_len > 0)
        memcpy(text->data, before, before_len);
    memcpy(text->data + before_len, head, head_len);
    text->len += len;
    return true;
}

bool culex__event_notes_end(struct culex_event_notes *notes, const char *before, size_t before_len,
                            uint64_t last, int64_t at_ms)
{
    char head[HEAD_SIZE];
    stretch_end(notes);
    int len = snprintf(head, sizeof head, "%" PRIu64 "|%" PRId64 "|%" PRIu64 "\n", last, at_ms,
                       notes->count);
    return text_begin(&notes->text, before, before_len, head, (size_t)len);
}

/* --- reading --------------------------------------------------------------------------------- */

struct reader {
    const char *at, *end;
};

/* A number up to `stop`, which is passed. */
static bool number_take(struct reader *reader, char stop, int64_t *ret_number)
{
    const char *found = memchr(reader->at, stop, (size_t)(reader->end - reader->at));
    if (found == NULL)
        return false;
    const char *from = reader->at;
    while (from + 1 < found && *from == '0')
        from++;
    reader->at = found + 1;
    return culex__int64_parse(from, (size_t)(found - from), ret_number) && *ret_number >= 0;
}

struct stretch {
    culex_events_kind kind;
    uint32_t number;
    uint64_t runs;
    char job[CULEX_JOB_NAME_MAX + 1];
    const unsigned char *spans, *spans_end;
};

static bool job_take(struct reader *reader, char ret_job[CULEX_JOB_NAME_MAX + 1])
{
    const char *stop = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    size_t len = stop != NULL ? (size_t)(stop - reader->at) : 0;
    if (stop == NULL || len > CULEX_JOB_NAME_MAX || memchr(reader->at, '\0', len) != NULL)
        return false;
    memcpy(ret_job, reader->at, len);
    ret_job[len] = '\0';
    reader->at = stop + 1;
    return true;
}

/* Spans of so many runs in all. */
static bool spans_take(struct reader *reader, int64_t runs, struct stretch *ret_stretch)
{
    ret_stretch->spans = (const unsigned char *)reader->at;
    while (runs > 0 && reader->end - reader->at >= CULEX_EVENT_SPAN_SIZE) {
        const unsigned char *span = (const unsigned char *)reader->at;
        int64_t its = span_runs(span);
        if (its == 0 || its > runs || low_of(span) + its - 1 > UINT32_MAX)
            return false;
        runs -= its;
        reader->at += CULEX_EVENT_SPAN_SIZE;
    }
    ret_stretch->spans_end = (const unsigned char *)reader->at;
    return runs == 0;
}

static bool stretch_take(struct reader *reader, struct stretch *ret_stretch)
{
    int64_t number, runs;
    const char *letter = reader->end - reader->at > 2 && reader->at[0] != '\0'
                             ? strchr(letters, reader->at[0])
                             : NULL;
    if (letter == NULL || reader->at[1] != '|')
        return false;
    reader->at += 2;
    if (!number_take(reader, '|', &number) || !number_take(reader, '|', &runs) ||
        !job_take(reader, ret_stretch->job) || number > UINT32_MAX || runs == 0 ||
        !spans_take(reader, runs, ret_stretch))
        return false;
    ret_stretch->kind = (culex_events_kind)(letter - letters);
    ret_stretch->number = (uint32_t)number;
    ret_stretch->runs = (uint64_t)runs;
    return true;
}

struct head {
    int64_t last, at_ms, count;
};

static bool head_take(struct reader *reader, struct head *ret_head)
{
    return number_take(reader, '|', &ret_head->last) &&
           number_take(reader, '|', &ret_head->at_ms) &&
           number_take(reader, '\n', &ret_head->count) && ret_head->count > 0 &&
           ret_head->count <= ret_head->last;
}

/* Passes the stretches of the entry too. */
static bool entry_pass(struct reader *reader, struct head *ret_head)
{
    struct stretch stretch;
    if (!head_take(reader, ret_head))
        return false;
    int64_t left = ret_head->count;
    while (left > 0) {
        if (!stretch_take(reader, &stretch) || (int64_t)stretch.runs > left)
            return false;
        left -= (int64_t)stretch.runs;
    }
    return true;
}

bool culex__event_entries_are_good(const char *entries, size_t len, uint64_t last)
{
    struct reader reader = {entries, entries + len};
    struct head head = {.last = 0};
    while (reader.at < reader.end) {
        int64_t before = head.last;
        if (!entry_pass(&reader, &head) || head.last - head.count < before)
            return false;
    }
    return len > 0 && (uint64_t)head.last == last;
}

/* --- pages ----------------------------------------------------------------------------------- */

void culex__event_page_begin(struct culex_event_list *list, uint64_t after, uint64_t kept,
                             uint64_t last)
{
    uint64_t oldest = last > kept ? last - kept : 0;
    bool is_beyond = after > last && after != CULEX_EVENTS_NOW;
    list->newest = last;
    list->kept = kept;
    list->position = after == CULEX_EVENTS_NOW ? last : after;
    list->is_from_oldest = after == CULEX_EVENTS_OLDEST || is_beyond;
    list->is_gap = is_beyond || (after < oldest && after != CULEX_EVENTS_OLDEST);
    if (is_beyond || after < oldest)
        list->position = oldest;
}

/* Events up to `position` were told, or are missing. */
static void gap_note(struct culex_event_list *list, uint64_t first)
{
    if (first > list->position + 1 && !(list->is_from_oldest && list->count == 0))
        list->is_gap = true;
}

static void id_make(const unsigned char *span, uint64_t place, culex_uuid *ret_id)
{
    uint32_t low = (uint32_t)(low_of(span) + place);
    memcpy(ret_id->b, span, ID_BYTES);
    for (size_t at = ID_BYTES; at > ID_BYTES - LOW_BYTES; low >>= 8)
        ret_id->b[--at] = (unsigned char)low;
}

/* Events of the span from `position` on. Those that the list is beyond are not looked at. */
static bool span_list(struct culex_event_list *list, const struct stretch *stretch,
                      const unsigned char *span, uint64_t position, int64_t at_ms, size_t most)
{
    bool has_count = stretch->kind == CULEX_EVENTS_PURGED;
    uint64_t told = list->position >= position ? list->position - position + 1 : 0;
    for (uint64_t i = told; i < span_runs(span) && list->count < most; i++) {
        culex_event event = {.position = position + i,
                             .kind = stretch->kind,
                             .attempt = has_count ? 0 : stretch->number,
                             .count = has_count ? stretch->number : 0,
                             .at_ms = at_ms,
                             .job = stretch->job};
        id_make(span, i, &event.id);
        if (!culex__event_list_add(list, &event))
            return false;
        list->position = event.position;
    }
    return true;
}

static bool stretch_add(struct culex_event_list *list, const struct stretch *stretch,
                        uint64_t *position, int64_t at_ms, size_t most)
{
    const unsigned char *span = stretch->spans;
    for (; span < stretch->spans_end; span += CULEX_EVENT_SPAN_SIZE) {
        if (!span_list(list, stretch, span, *position, at_ms, most))
            return false;
        *position += span_runs(span);
    }
    return true;
}

/* Of entries that are good, the next one. False when out of memory. */
static bool entry_add(struct culex_event_list *list, struct reader *reader, size_t most)
{
    struct head head = {.last = 0};
    struct stretch stretch;
    head_take(reader, &head);
    uint64_t position = (uint64_t)(head.last - head.count) + 1;
    gap_note(list, position);
    while (position <= (uint64_t)head.last && stretch_take(reader, &stretch)) {
        if (!stretch_add(list, &stretch, &position, head.at_ms, most))
            return false;
    }
    return true;
}

bool culex__event_entries_add(struct culex_event_list *list, const char *entries, size_t len,
                              uint64_t last, size_t most)
{
    struct reader reader = {entries, entries + len};
    if (last <= list->position || list->count == most)
        return true;
    if (!culex__event_entries_are_good(entries, len, last)) {
        list->is_gap = true;
        list->position = last;
        return true;
    }
    while (reader.at < reader.end && list->count < most) {
        if (!entry_add(list, &reader, most))
            return false;
    }
    return true;
}

void culex__event_page_end(struct culex_event_list *list, size_t most, uint64_t last)
{
    if (list->count == most || list->position >= last)
        return;
    gap_note(list, last + 1);
    list->position = last;
}

/* --- lists ----------------------------------------------------------------------------------- */

/* A job's name stands once for the events that follow each other. */
static const char *job_keep(struct culex_event_list *list, const char *job)
{
    size_t size = strlen(job) + 1;
    if (size == 1)
        return "";
    if (list->jobs != NULL && strcmp(list->jobs->name, job) == 0)
        return list->jobs->name;
    struct culex_event_job *made = malloc(sizeof *made + size);
    if (made == NULL)
        return NULL;
    made->next = list->jobs;
    list->jobs = made;
    return memcpy(made->name, job, size);
}

bool culex__event_list_add(struct culex_event_list *list, const culex_event *event)
{
    if (list->count == list->capacity) {
        size_t wider = list->capacity > 0 ? list->capacity * 2 : 32;
        culex_event *of = realloc(list->of, wider * sizeof *of);
        if (of == NULL)
            return false;
        list->of = of;
        list->capacity = wider;
    }
    const char *job = job_keep(list, event->job);
    if (job == NULL)
        return false;
    list->of[list->count] = *event;
    list->of[list->count++].job = job;
    return true;
}

void culex__event_list_release(struct culex_event_list *list)
{
    while (list->jobs != NULL) {
        struct culex_event_job *job = list->jobs;
        list->jobs = job->next;
        free(job);
    }
    free(list->of);
    *list = (struct culex_event_list){.of = NULL};
}
