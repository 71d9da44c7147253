#include "zone.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digit.h"
#include "folder.h"

enum { FOLDER_DEPTH = 3, FILE_MAX = 64 * 1024, FOOTER_MAX = 128 };

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
    ssize_t len = fd < 0 ? 0 : read(fd, bytes, FILE_MAX);
    if (fd >= 0)
        close(fd);
    arena_release(&arena);
    return len < 4 || memcmp(bytes, "TZif", 4) != 0 ? 0 : (size_t)len;
}

enum zone_state zone_find(const char *name)
{
    if (!folder_exists(database()))
        return ZONE_NO_DATABASE;
    char *bytes = memory_resize(NULL, FILE_MAX);
    size_t len = file_read(name, bytes);
    free(bytes);
    return len > 0 ? ZONE_KNOWN : ZONE_UNKNOWN;
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
           strcmp(entry->d_name, "right") != 0;
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

static int digits_read(const char **at)
{
    int value = 0;
    for (; culex__is_digit(**at); ++*at)
        value = value < 1000 ? value * 10 + (**at - '0') : value;
    return value;
}

/* "2", "-1", "2:30" or "2:30:00": minutes; *at moves behind it. */
static int minutes_read(const char **at)
{
    bool is_negative = **at == '-';
    *at += **at == '-' || **at == '+';
    int minutes = 60 * digits_read(at);
    if (**at == ':') {
        ++*at;
        minutes += digits_read(at);
    }
    *at += strspn(*at, ":0123456789");
    return is_negative ? -minutes : minutes;
}

/* "CET-1" or "<+0330>-3:30": minutes that local time is ahead of UTC. */
static int offset_read(const char **at, int missing)
{
    if (**at == '<')
        *at += strcspn(*at, ">") + 1;
    else
        *at += strspn(*at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return **at == ',' || **at == '\0' ? missing : -minutes_read(at);
}

/* ",M3.5.0/2": false when it is no such rule. The clock is moved by `delta` then. */
static bool rule_read(const char **at, int delta, struct zone_change *ret_change)
{
    if (strncmp(*at, ",M", 2) != 0)
        return false;
    *at += 2;
    int month = digits_read(at);
    int time = 120;
    *at += strspn(*at, ".0123456789");
    if (**at == '/') {
        ++*at;
        time = minutes_read(at);
    }
    *ret_change = (struct zone_change){.month = (unsigned)month,
                                       .from = delta > 0 ? time : time + delta,
                                       .to = delta > 0 ? time + delta : time,
                                       .is_skipped = delta > 0};
    return month >= 1 && month <= 12 && time > -10080 && time < 10080;
}

/* The text behind the data of a file, between line ends: the rules for all years to come. */
static bool footer_read(const char *name, char footer[FOOTER_MAX])
{
    char *bytes = memory_resize(NULL, FILE_MAX);
    size_t len = file_read(name, bytes);
    size_t start = len > 0 ? len - 1 : 0;
    while (start > 0 && bytes[start - 1] != '\n')
        start--;
    bool is_good = start > 0 && bytes[len - 1] == '\n' && len - start <= FOOTER_MAX;
    if (is_good) {
        memcpy(footer, bytes + start, len - start);
        footer[len - start - 1] = '\0';
    }
    free(bytes);
    return is_good;
}

unsigned zone_changes(const char *name, struct zone_change ret_changes[2])
{
    char footer[FOOTER_MAX];
    const char *at = footer;
    if (!footer_read(name, footer))
        return 0;
    int standard = offset_read(&at, 0);
    int delta = offset_read(&at, standard + 60) - standard;
    if (delta == 0 || delta > 1440 || delta < -1440)
        return 0;
    return rule_read(&at, delta, &ret_changes[0]) && rule_read(&at, -delta, &ret_changes[1]) ? 2
                                                                                             : 0;
}
