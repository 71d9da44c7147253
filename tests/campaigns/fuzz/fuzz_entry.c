/* fuzz_entry - any bytes as an entry of events: a gap, or events in their order that say the same
 * once they were noted and read again. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "store/event_entry.h"

enum { KEPT = 700, MOST = 500 };

unsigned fuzz_taken;

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* What the entry says of itself, as a store has it from elsewhere; 1 where it says nothing. */
static uint64_t last_of(const uint8_t *data, size_t size)
{
    uint64_t last = 0;
    for (size_t i = 0; i < size && i < 15 && data[i] >= '0' && data[i] <= '9'; i++)
        last = last * 10 + (uint64_t)(data[i] - '0');
    return last > 0 ? last : 1;
}

static struct culex_event_list page(const char *entry, size_t len, uint64_t last)
{
    struct culex_event_list list = {.of = NULL};
    culex__event_page_begin(&list, CULEX_EVENTS_OLDEST, KEPT, last);
    require(culex__event_entries_add(&list, entry, len, last, MOST));
    return list;
}

static void event_require(const culex_event *event)
{
    require((unsigned)event->kind < CULEX_EVENTS_KIND_COUNT && event->job != NULL);
    require(event->kind == CULEX_EVENTS_PURGED ? event->attempt == 0 : event->count == 0);
}

static void same_require(const culex_event *a, const culex_event *b)
{
    require(a->kind == b->kind && a->attempt == b->attempt && a->count == b->count);
    require(a->at_ms == b->at_ms && strcmp(a->job, b->job) == 0);
    require(memcmp(&a->id, &b->id, sizeof a->id) == 0);
}

/* The entry of the list's events, noted one by one. Owned by the caller. */
static char *entry_make(const struct culex_event_list *list, uint64_t last, size_t *ret_len)
{
    struct culex_event_notes notes = {.count = 0};
    for (size_t i = 0; i < list->count; i++)
        culex__event_note(&notes, list->of[i].kind, list->of[i].attempt + list->of[i].count,
                          &list->of[i].id, list->of[i].job);
    require(!notes.is_out_of_memory && notes.count == list->count);
    require(culex__event_notes_end(&notes, NULL, 0, last, list->of[0].at_ms));
    char *entry = notes.text.data;
    *ret_len = notes.text.len;
    return entry;
}

static void again_require(const struct culex_event_list *list)
{
    size_t len;
    char *entry = entry_make(list, MOST, &len);
    struct culex_event_list again = page(entry, len, MOST);
    require(culex__event_entries_are_good(entry, len, MOST) && again.count == list->count);
    for (size_t i = 0; i < list->count; i++)
        same_require(&list->of[i], &again.of[i]);
    culex__event_list_release(&again);
    free(entry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t last = last_of(data, size);
    bool is_good = culex__event_entries_are_good((const char *)data, size, last);
    struct culex_event_list list = page((const char *)data, size, last);
    require(is_good == (list.count > 0) && is_good == !list.is_gap);
    require(list.count <= MOST && list.position <= last && (is_good || list.position == last));
    for (size_t i = 0; i < list.count; i++) {
        event_require(&list.of[i]);
        require(list.of[i].position == list.position - (list.count - 1 - i));
    }
    if (is_good) {
        fuzz_taken++;
        again_require(&list);
    }
    culex__event_list_release(&list);
    return 0;
}
