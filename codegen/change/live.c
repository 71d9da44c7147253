#include "live.h"

#include <stdio.h>
#include <string.h>

#include "json_in.h"
#include "limits.h"
#include "text.h"
#include "diag_print.h"

struct listing {
    struct arena *arena;
    struct diag_sink *sink;
    const struct source *source;
    struct live *live;
    struct live_runs **end;
};

static const char *key_of(struct arena *arena, const char *job, const char *fingerprint)
{
    return arena_printf(arena, "%s %s", job, fingerprint);
}

bool live_has(const struct live *live, const char *job, const char *fingerprint)
{
    struct arena scratch = {0};
    bool has = map_get(&live->versions, key_of(&scratch, job, fingerprint)) != NULL;
    arena_release(&scratch);
    return has;
}

bool live_has_job(const struct live *live, const char *job)
{
    return map_get(&live->jobs, job) != NULL;
}

/* One member; those that nobody here needs are skipped. */
static bool member_read(struct listing *listing, struct json_in *in, struct live_runs *runs)
{
    char *name, *text;
    size_t len;
    if (!json_in_string(in, listing->arena, &name, &len) || !json_in_expect(in, ':'))
        return false;
    bool is_job = strcmp(name, "job") == 0;
    if (!is_job && strcmp(name, "fingerprint") != 0)
        return json_in_skip(in);
    if (!json_in_string(in, listing->arena, &text, &len))
        return false;
    *(is_job ? &runs->job : &runs->fingerprint) = text;
    return strlen(text) == len;
}

static bool is_fingerprint(const char *text)
{
    return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16;
}

/* False after a report. */
static bool line_read(struct listing *listing, struct span span)
{
    struct json_in in = {.at = listing->source->text + span.offset};
    struct live_runs *runs = arena_alloc(listing->arena, sizeof(*runs));
    bool is_first = true;
    bool is_good = true;
    in.end = in.at + span.length;
    runs->span = span;
    if (json_in_at_end(&in))
        return true;
    json_in_expect(&in, '{');
    while (is_good && json_in_more(&in, '}', &is_first))
        is_good = member_read(listing, &in, runs);
    if (!is_good || in.is_bad || !json_in_at_end(&in) || runs->job == NULL ||
        runs->fingerprint == NULL || !is_fingerprint(runs->fingerprint)) {
        diag_report(listing->sink, DIAG_BAD_LISTING, span,
                    "this line does not say of which job and version there are runs");
        diag_help(listing->sink, "a line is {\"job\":\"shop.send_email\",\"fingerprint\":"
                                 "\"9c1f0e7ab2d44e10\"}");
        return false;
    }
    map_add(&listing->live->jobs, runs->job, runs);
    if (map_add(&listing->live->versions, key_of(listing->arena, runs->job, runs->fingerprint),
                runs) == NULL) {
        *listing->end = runs;
        listing->end = &runs->next;
    }
    return true;
}

struct live *live_read(struct diag_sink *sink, const char *path, const char *text, size_t size)
{
    struct listing listing = {.arena = sink->arena, .sink = sink};
    struct source *source = source_create(sink->arena, path, text, size);
    source->index = UINT32_MAX;
    listing.source = source;
    listing.live = arena_alloc(sink->arena, sizeof(*listing.live));
    listing.end = &listing.live->first;
    map_init(&listing.live->versions, sink->arena);
    map_init(&listing.live->jobs, sink->arena);
    for (uint32_t line = 1; line <= source->line_count; line++) {
        size_t len;
        const char *start = source_line(source, line, &len);
        if (!line_read(&listing,
                       (struct span){source, (uint32_t)(start - source->text), (uint32_t)len}))
            return NULL;
    }
    return listing.live;
}

struct live *live_load(struct diag_sink *sink, const char *path)
{
    struct buf text = {0};
    struct live *live = NULL;
    const char *fault = text_read(path, LIMIT_LIVE_BYTES, &text);
    if (fault != NULL)
        diag_say("cannot read '%s': %s", path, fault);
    else
        live = live_read(sink, path, text.data, text.len);
    buf_release(&text);
    return live;
}
