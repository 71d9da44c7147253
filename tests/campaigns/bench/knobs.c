#include "knobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct number {
    const char *name;
    size_t offset;
} numbers[] = {
    {"count", offsetof(struct knobs, count)},
    {"batch", offsetof(struct knobs, batch)},
    {"handlers", offsetof(struct knobs, handlers)},
    {"processes", offsetof(struct knobs, processes)},
    {"threads", offsetof(struct knobs, threads)},
    {"is_shared", offsetof(struct knobs, is_shared)},
    {"bytes", offsetof(struct knobs, bytes)},
    {"keep_ms", offsetof(struct knobs, keep_ms)},
    {"fail_percent", offsetof(struct knobs, fail_percent)},
    {"is_declared", offsetof(struct knobs, is_declared)},
    {"is_uncounted", offsetof(struct knobs, is_uncounted)},
    {"events", offsetof(struct knobs, events)},
    {"in_batch", offsetof(struct knobs, in_batch)},
    {"is_parked", offsetof(struct knobs, is_parked)},
    {"follow", offsetof(struct knobs, follow)},
    {"stop_after", offsetof(struct knobs, stop_after)},
    {"window", offsetof(struct knobs, window)},
    {"bulk", offsetof(struct knobs, bulk)},
    {"rate", offsetof(struct knobs, rate)},
    {"seconds", offsetof(struct knobs, seconds)},
};

static void knob_refuse(const char *word)
{
    fprintf(stderr, "bench: no such knob, or not its value: %s\n", word);
    exit(2);
}

static culex_isolation isolation_parse(const char *value)
{
    if (strcmp(value, "none") == 0)
        return CULEX_ISOLATION_NONE;
    if (strcmp(value, "process") == 0)
        return CULEX_ISOLATION_PROCESS;
    if (strcmp(value, "job") == 0)
        return CULEX_ISOLATION_JOB;
    knob_refuse(value);
    return CULEX_ISOLATION_DEFAULT;
}

static void number_set(struct knobs *knobs, const char *name, const char *value)
{
    char *end = NULL;
    size_t number = strtoul(value, &end, 10);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(numbers[i].name, name) == 0 && *value != '\0' && *end == '\0') {
            memcpy((char *)knobs + numbers[i].offset, &number, sizeof number);
            return;
        }
    }
    knob_refuse(name);
}

static void knob_set(struct knobs *knobs, char *word)
{
    char *value = strchr(word, '=');
    if (value == NULL)
        knob_refuse(word);
    *value++ = '\0';
    if (strcmp(word, "url") == 0)
        knobs->url = value;
    else if (strcmp(word, "synchronous") == 0)
        knobs->synchronous = value;
    else if (strcmp(word, "isolation") == 0)
        knobs->isolation = isolation_parse(value);
    else
        number_set(knobs, word, value);
}

struct knobs knobs_parse(char **words, size_t count)
{
    struct knobs knobs = {.url = "memory:",
                          .synchronous = "normal",
                          .isolation = CULEX_ISOLATION_NONE,
                          .count = 1000,
                          .handlers = 1,
                          .processes = 1,
                          .threads = 1,
                          .keep_ms = 1000,
                          .bulk = 100};
    for (size_t i = 0; i < count; i++)
        knob_set(&knobs, words[i]);
    return knobs;
}
