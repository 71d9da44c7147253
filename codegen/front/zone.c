#include "zone.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "core/date.h"
#include "core/zone.h"
#include "folder.h"

enum { FOLDER_DEPTH = 3 };

static const char *database(void)
{
    const char *folder = getenv("TZDIR");
    return folder == NULL || *folder == '\0' ? "/usr/share/zoneinfo" : folder;
}

/* The whole file, if it is one of the database; its length, 0 without one. */
static size_t file_read(const char *name, char *bytes)
{
    struct arena arena = {0};
    int fd =
        open(arena_printf(&arena, "%s/%s", database(), name), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t len = fd < 0 ? 0 : read(fd, bytes, CULEX_ZONE_FILE_MAX);
    if (fd >= 0)
        close(fd);
    arena_release(&arena);
    return len < 4 || memcmp(bytes, "TZif", 4) != 0 ? 0 : (size_t)len;
}

/* Files of the database that each machine has of its own. */
static bool is_of_machine(const char *name)
{
    return strcmp(name, "localtime") == 0 || strcmp(name, "posixrules") == 0;
}

/* *ret_fault is NULL for a name that is none. */
static enum zone_state zone_judge(const char *name, const char **ret_fault)
{
    struct culex__zone zone;
    char *bytes = memory_resize(NULL, CULEX_ZONE_FILE_MAX);
    size_t len = file_read(name, bytes);
    *ret_fault = len > 0 ? culex__zone_read((const uint8_t *)bytes, len, &zone) : NULL;
    free(bytes);
    if (len == 0)
        return ZONE_UNKNOWN;
    return *ret_fault == NULL ? ZONE_KNOWN : ZONE_UNFIT;
}

enum zone_state zone_find(const char *name, const char **ret_fault)
{
    *ret_fault = is_of_machine(name) ? "it is another one on each machine" : NULL;
    if (*ret_fault != NULL)
        return ZONE_UNFIT;
    if (strcmp(name, "UTC") == 0)
        return ZONE_KNOWN;
    return folder_exists(database()) ? zone_judge(name, ret_fault) : ZONE_NO_DATABASE;
}

static void name_offer(struct arena *arena, struct suggestion *suggestion, const char *name)
{
    const char *city = strrchr(name, '/');
    if (strcmp(name, suggestion->word) == 0) /* A file that is no zone. */
        return;
    const char *kept = arena_copy(arena, name, strlen(name));
    suggestion_offer(suggestion, kept);
    if (city != NULL && strcasecmp(city + 1, suggestion->word) == 0 && suggestion->distance > 0)
        *suggestion =
            (struct suggestion){.word = suggestion->word, .best = kept, .next = SUGGESTION_FAR};
}

/* The database's folders posix and right repeat all names; files with a dot are no zones. */
static int is_wanted(const struct dirent *entry)
{
    return strchr(entry->d_name, '.') == NULL && strcmp(entry->d_name, "posix") != 0 &&
           strcmp(entry->d_name, "right") != 0 && !is_of_machine(entry->d_name);
}

static void folder_offer(struct arena *arena, struct suggestion *suggestion, const char *below,
                         unsigned depth)
{
    struct dirent **entries;
    int count =
        scandir(arena_printf(arena, "%s/%s", database(), below), &entries, is_wanted, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name =
            arena_printf(arena, "%s%s%s", below, *below == '\0' ? "" : "/", entries[i]->d_name);
        if (!folder_exists(arena_printf(arena, "%s/%s", database(), name)))
            name_offer(arena, suggestion, name);
        else if (depth < FOLDER_DEPTH)
            folder_offer(arena, suggestion, name, depth + 1);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

void zone_suggest(struct arena *arena, struct suggestion *suggestion)
{
    folder_offer(arena, suggestion, "", 1);
    if (suggestion->next <= suggestion->distance) /* A continent alone is the start of many. */
        suggestion->best = NULL;
}

/* Behind the table of every file: what is so in this year is so in all years to come. */
#define FAR_YEAR INT64_C(2600)

static struct zone_change change_of(int64_t at, int32_t before, int32_t after)
{
    int64_t from = at + (before < after ? before : after),
            to = at + (before < after ? after : before);
    int64_t day = culex__floor_div(from, CULEX_DAY_SECONDS);
    struct zone_change change = {
        .month = culex__days_date(day).month,
        .from = (int)((from - day * CULEX_DAY_SECONDS) / 60),
        .to = (int)((to - day * CULEX_DAY_SECONDS) / 60),
        .is_skipped = before < after,
    };
    return change;
}

static unsigned changes_find(const struct culex__zone *zone, struct zone_change ret_changes[2])
{
    unsigned count = 0;
    int64_t at = culex__date_days((struct culex__date){FAR_YEAR, 1, 1}) * CULEX_DAY_SECONDS;
    int64_t end = culex__date_days((struct culex__date){FAR_YEAR + 1, 1, 1}) * CULEX_DAY_SECONDS;
    struct culex__zone_span span = culex__zone_span_at(zone, at);
    while (span.until_s < end && count < 2) {
        struct culex__zone_span next = culex__zone_span_at(zone, span.until_s);
        if (next.offset_s != span.offset_s)
            ret_changes[count++] = change_of(span.until_s, span.offset_s, next.offset_s);
        span = next;
    }
    return count;
}

unsigned zone_changes(const char *name, struct zone_change ret_changes[2])
{
    struct culex__zone zone;
    char *bytes = memory_resize(NULL, CULEX_ZONE_FILE_MAX);
    size_t len = file_read(name, bytes);
    bool is_good = culex__zone_read((const uint8_t *)bytes, len, &zone) == NULL;
    unsigned count = is_good ? changes_find(&zone, ret_changes) : 0;
    free(bytes);
    return count;
}
