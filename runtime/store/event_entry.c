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
    RUNS_DIGITS = 7,
    ID_BYTES = sizeof(culex_uuid),
    TEXT_MAX = 16 << 20, /* far beyond what a call can tell */
};

/* --- writing --------------------------------------------------------------------------------- */

static size_t stretch_head(char *text, size_t size, culex_events_kind kind, uint32_t number,
                           unsigned runs, const char *job)
{
    int len = snprintf(text, size, "%c|%u|%0*u|%s\n", letters[kind], (unsigned)number, RUNS_DIGITS,
                       runs, job);
    return len > 0 && (size_t)len < size ? (size_t)len : 0;
}

static unsigned runs_of(const struct culex_event_notes *notes)
{
    return (unsigned)((notes->text.len - notes->ids) / ID_BYTES);
}

static bool append(struct culex_event_notes *notes, const void *bytes, size_t len)
{
    notes->text.max = TEXT_MAX;
    bool is_added = culex__buf_append(&notes->text, bytes, len) == CULEX_OK;
    notes->is_out_of_memory = notes->is_out_of_memory || !is_added;
    return is_added;
}

/* How many ids the last stretch has is written into its head when it grows. */
void culex__event_note(struct culex_event_notes *notes, culex_events_kind kind, uint32_t number,
                       const culex_uuid *id, const char *job)
{
    char head[CULEX_JOB_NAME_MAX + CULEX_EVENT_HEAD_SIZE];
    job = job != NULL ? job : "";
    unsigned runs = notes->count > 0 ? runs_of(notes) : 0;
    size_t len = stretch_head(head, sizeof head, kind, number, runs, job);
    bool is_alike = notes->count > 0 && len == notes->ids - notes->head &&
                    memcmp(notes->text.data + notes->head, head, len) == 0;
    if (!is_alike) {
        size_t at = notes->text.len;
        runs = 0;
        if (!append(notes, head, len))
            return;
        notes->head = at;
        notes->ids = notes->text.len;
    }
    if (!append(notes, id->b, ID_BYTES))
        return;
    len = stretch_head(head, sizeof head, kind, number, runs + 1, job);
    memcpy(notes->text.data + notes->head, head, len);
    notes->count++;
}

void culex__event_notes_clear(struct culex_event_notes *notes)
{
    notes->text.len = notes->head = notes->ids = 0;
    notes->count = 0;
    notes->is_out_of_memory = false;
}

void culex__event_notes_release(struct culex_event_notes *notes)
{
    free(notes->text.data);
    *notes = (struct culex_event_notes){.count = 0};
}

bool culex__event_notes_reserve(struct culex_event_notes *notes, size_t more)
{
    return culex__buf_reserve(&notes->text, more) == CULEX_OK;
}

size_t culex__event_head_write(uint64_t last, int64_t at_ms, uint64_t count,
                               char ret_head[CULEX_EVENT_HEAD_SIZE])
{
    return (size_t)snprintf(ret_head, CULEX_EVENT_HEAD_SIZE,
                            "%" PRIu64 "|%" PRId64 "|%" PRIu64 "\n", last, at_ms, count);
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
    size_t runs;
    char job[CULEX_JOB_NAME_MAX + 1];
    const char *ids;
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
        runs > (reader->end - reader->at) / ID_BYTES)
        return false;
    ret_stretch->kind = (culex_events_kind)(letter - letters);
    ret_stretch->number = (uint32_t)number;
    ret_stretch->runs = (size_t)runs;
    ret_stretch->ids = reader->at;
    reader->at += runs * ID_BYTES;
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

bool culex__event_entry_is_good(const char *entry, size_t len, uint64_t last)
{
    struct reader reader = {entry, entry + len};
    struct head head;
    struct stretch stretch;
    int64_t count = 0;
    if (!head_take(&reader, &head) || (uint64_t)head.last != last)
        return false;
    while (reader.at < reader.end) {
        if (!stretch_take(&reader, &stretch))
            return false;
        count += (int64_t)stretch.runs;
    }
    return count == head.count;
}

/* --- pages ----------------------------------------------------------------------------------- */

void culex__event_page_begin(struct culex_event_list *list, uint64_t after, uint64_t kept,
                             uint64_t last)
{
    uint64_t oldest = last > kept ? last - kept : 0;
    bool is_beyond = after > last && after != CULEX_EVENTS_NOW;
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

static bool stretch_add(struct culex_event_list *list, const struct stretch *stretch,
                        uint64_t *position, int64_t at_ms, size_t most)
{
    bool has_count = stretch->kind == CULEX_EVENTS_PURGED;
    for (size_t i = 0; i < stretch->runs; i++) {
        uint64_t its = (*position)++;
        if (its <= list->position || list->count == most)
            continue;
        culex_event event = {.position = its,
                             .kind = stretch->kind,
                             .attempt = has_count ? 0 : stretch->number,
                             .count = has_count ? stretch->number : 0,
                             .at_ms = at_ms,
                             .job = stretch->job};
        memcpy(event.id.b, stretch->ids + i * ID_BYTES, ID_BYTES);
        if (!culex__event_list_add(list, &event))
            return false;
        list->position = its;
    }
    return true;
}

bool culex__event_entry_add(struct culex_event_list *list, const char *entry, size_t len,
                            uint64_t last, size_t most)
{
    struct reader reader = {entry, entry + len};
    struct head head;
    struct stretch stretch;
    if (last <= list->position || list->count == most)
        return true;
    if (!culex__event_entry_is_good(entry, len, last)) {
        list->is_gap = true;
        list->position = last;
        return true;
    }
    head_take(&reader, &head);
    uint64_t position = last - (uint64_t)head.count + 1;
    gap_note(list, position);
    while (reader.at < reader.end && stretch_take(&reader, &stretch)) {
        if (!stretch_add(list, &stretch, &position, head.at_ms, most))
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
