#include "live.h"

#include <stdio.h>
#include <string.h>

#include "diag_print.h"
#include "json_in.h"
#include "limits.h"
#include "say.h"
#include "text.h"

struct listing {
    struct arena *arena;
    struct diag_sink *sink;
    const struct source *source;
    struct live *live;
    struct live_runs **end;
    int64_t schemas; /* lines since the last end */
    bool is_complete;
};

/* What a line says. */
struct line {
    struct live_runs *runs;
    bool is_end;
    int64_t schemas; /* that the listing had before it */
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

/* Reads one member, or skips it when its name is unknown. */
static bool member_read(struct listing *listing, struct json_in *in, struct line *line)
{
    char *name, *text;
    size_t len;
    if (!json_in_string(in, listing->arena, &name, &len) || !json_in_expect(in, ':'))
        return false;
    if (strcmp(name, "complete") == 0)
        return json_in_bool(in, &line->is_end);
    if (strcmp(name, "schemas") == 0)
        return json_in_number(in, &line->schemas);
    bool is_job = strcmp(name, "job") == 0;
    if (!is_job && strcmp(name, "fingerprint") != 0)
        return json_in_skip(in);
    if (!json_in_string(in, listing->arena, &text, &len))
        return false;
    *(is_job ? &line->runs->job : &line->runs->fingerprint) = text;
    return strlen(text) == len;
}

static bool is_fingerprint(const char *text)
{
    return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16;
}

static bool is_of_runs(const struct live_runs *runs)
{
    return runs->job != NULL && runs->fingerprint != NULL && is_fingerprint(runs->fingerprint);
}

static bool is_end(const struct line *line)
{
    return line->is_end && line->runs->job == NULL && line->runs->fingerprint == NULL;
}

/* False when the line is of neither kind. */
static bool line_parse(struct listing *listing, struct span span, struct line *line)
{
    struct json_in in = json_in_text(listing->source->text + span.offset, span.length);
    bool is_first = true;
    bool is_good = true;
    json_in_expect(&in, '{');
    while (is_good && json_in_more(&in, '}', &is_first))
        is_good = member_read(listing, &in, line);
    return is_good && !in.is_bad && json_in_at_end(&in) && (is_of_runs(line->runs) || is_end(line));
}

/* Always true. */
static bool runs_add(struct listing *listing, struct live_runs *runs)
{
    const char *key = key_of(listing->arena, runs->job, runs->fingerprint);
    listing->schemas++;
    listing->is_complete = false;
    map_add(&listing->live->jobs, runs->job, runs);
    if (map_add(&listing->live->versions, key, runs) == NULL) {
        *listing->end = runs;
        listing->end = &runs->next;
    }
    return true;
}

static void incomplete_report(struct listing *listing, struct span span, const char *reason)
{
    diag_report(listing->sink, DIAG_LISTING_INCOMPLETE, span, "the listing is not complete: %s",
                reason);
    diag_help(listing->sink, "did culex-live fail? its last line is {\"complete\":true,...}");
}

/* False after a report. */
static bool end_take(struct listing *listing, const struct line *line)
{
    listing->is_complete = line->schemas == listing->schemas;
    listing->schemas = 0;
    if (!listing->is_complete)
        incomplete_report(listing, line->runs->span, "its end tells of another number of lines");
    return listing->is_complete;
}

/* False after a report. */
static bool line_read(struct listing *listing, struct span span)
{
    struct json_in blank = json_in_text(listing->source->text + span.offset, span.length);
    if (json_in_at_end(&blank))
        return true;
    struct line line = {.runs = arena_alloc(listing->arena, sizeof(*line.runs)),
                        .schemas = listing->schemas};
    line.runs->span = span;
    if (!line_parse(listing, span, &line)) {
        diag_report(listing->sink, DIAG_BAD_LISTING, span,
                    "this line does not say of which job and version there are runs");
        diag_help(listing->sink, "a line is {\"job\":\"shop.send_email\",\"fingerprint\":"
                                 "\"9c1f0e7ab2d44e10\"}");
        return false;
    }
    return is_end(&line) ? end_take(listing, &line) : runs_add(listing, line.runs);
}

static struct span line_span(const struct source *source, uint32_t line)
{
    size_t len;
    const char *start = source_line(source, line, &len);
    return (struct span){source, (uint32_t)(start - source->text), (uint32_t)len};
}

/* NULL after a report in `sink`. */
static struct live *live_read(struct diag_sink *sink, const char *path, const char *text,
                              size_t size)
{
    struct listing listing = {.arena = sink->arena, .sink = sink};
    struct source *source = source_create(sink->arena, path, text, size);
    source->index = UINT32_MAX;
    listing.source = source;
    listing.live = arena_alloc(sink->arena, sizeof(*listing.live));
    listing.end = &listing.live->first;
    map_init(&listing.live->versions, sink->arena);
    map_init(&listing.live->jobs, sink->arena);
    struct span span = {.source = source};
    for (uint32_t line = 1; line <= source->line_count; line++) {
        span = line_span(source, line);
        if (!line_read(&listing, span))
            return NULL;
    }
    if (listing.is_complete)
        return listing.live;
    incomplete_report(&listing, span, "it does not end with a line that says so");
    return NULL;
}

struct live *live_load(struct diag_sink *sink, const char *path)
{
    struct buf text = {0};
    struct live *live = NULL;
    const char *fault = text_read(path, LIMIT_LIVE_BYTES, &text);
    if (fault != NULL)
        say_unread(path, fault);
    else
        live = live_read(sink, path, text.data, text.len);
    buf_release(&text);
    return live;
}
