/* publish.c - diagnostics, sent to the editor when they differ from what it shows.
 *
 * A file gets what its own compilation says of it; one that is not open, what the first
 * document says that imports it. */
#include <stdlib.h>
#include <string.h>

#include "fnv.h"
#include "request.h"
#include "shown.h"

enum { SEVERITY_ERROR = 1, SEVERITY_WARNING = 2, TAG_UNNECESSARY = 1, TAG_DEPRECATED = 2 };

static struct published *published_find(struct server *server, const char *uri)
{
    struct published *at = server->published;
    while (at != NULL && strcmp(at->uri, uri) != 0)
        at = at->next;
    return at;
}

static struct published *published_add(struct server *server, const char *uri)
{
    struct published *published = memory_resize(NULL, sizeof(*published));
    size_t size = strlen(uri) + 1;
    *published = (struct published){.uri = memcpy(memory_resize(NULL, size), uri, size),
                                    .next = server->published};
    server->published = published;
    return published;
}

static void published_drop(struct published **at)
{
    struct published *gone = *at;
    *at = gone->next;
    free(gone->uri);
    free(gone);
}

void published_release(struct server *server)
{
    while (server->published != NULL)
        published_drop(&server->published);
}

/* The tag that an id stands for by its name, 0: none. */
static int diag_tag(enum diag_id id)
{
    const char *slug = diag_slug(id);
    if (strncmp(slug, "unused-", 7) == 0)
        return TAG_UNNECESSARY;
    return strstr(slug, "deprecated") != NULL ? TAG_DEPRECATED : 0;
}

/* The message, the help, and the notes that the editor cannot show otherwise. */
static void write_message(struct arena *arena, struct json_out *json, const struct diag *diag,
                          bool has_related)
{
    struct buf text = {0};
    buf_text(&text, diag->text);
    for (const struct diag_note *note = diag->notes; note != NULL; note = note->next) {
        if (!has_related || note->span.source == NULL)
            buf_printf(&text, "\n%s", note->text);
    }
    if (diag->help != NULL)
        buf_printf(&text, "\n%s", diag->help);
    json_text(json, "message", shown_copy(arena, text.data, text.len));
    buf_release(&text);
}

static const struct module *source_module(const struct analysis *analysis,
                                          const struct source *source)
{
    const struct module *module = analysis->compilation.modules;
    while (module != NULL && module->source != source)
        module = module->next;
    return module;
}

static void write_related(struct server *server, struct arena *arena, struct json_out *json,
                          struct analysis *analysis, const struct diag *diag)
{
    json_open(json, "relatedInformation", '[');
    for (const struct diag_note *note = diag->notes; note != NULL; note = note->next) {
        const struct module *module =
            note->span.source == NULL ? NULL : source_module(analysis, note->span.source);
        if (module == NULL)
            continue;
        json_open(json, NULL, '{');
        json_open(json, "location", '{');
        json_text(json, "uri", module_uri(server, arena, module));
        write_range(json, "range", analysis, note->span);
        json_close(json, '}');
        json_text(json, "message", shown_copy(arena, note->text, strlen(note->text)));
        json_close(json, '}');
    }
    json_close(json, ']');
}

void write_diagnostic(struct server *server, struct arena *arena, struct json_out *json,
                      const char *name, struct analysis *analysis, const struct diag *diag)
{
    int tag = diag_tag(diag->id);
    json_open(json, name, '{');
    write_range(json, "range", analysis, diag->span);
    json_number(json, "severity", diag->severity == DIAG_ERROR ? SEVERITY_ERROR : SEVERITY_WARNING);
    json_text(json, "code", diag_slug(diag->id));
    json_text(json, "source", "culexc");
    write_message(arena, json, diag, server->has_related);
    if (tag != 0) {
        json_open(json, "tags", '[');
        json_number(json, NULL, tag);
        json_close(json, ']');
    }
    if (server->has_related && diag->notes != NULL)
        write_related(server, arena, json, analysis, diag);
    json_close(json, '}');
}

static void notification_open(struct json_out *json, const char *uri)
{
    json_open(json, NULL, '{');
    json_text(json, "jsonrpc", "2.0");
    json_text(json, "method", "textDocument/publishDiagnostics");
    json_open(json, "params", '{');
    json_text(json, "uri", uri);
}

static void notification_close(struct json_out *json)
{
    json_close(json, ']');
    json_close(json, '}');
    json_close(json, '}');
}

/* Sends what is new for this URI. */
static void publish(struct server *server, const char *uri, struct json_out *json, bool is_empty)
{
    struct published *published = published_find(server, uri);
    uint64_t hash = fnv_text(FNV_START, json->buf.data);
    if (published == NULL && is_empty) { /* Nothing is shown there, and nothing is to be. */
        buf_release(&json->buf);
        return;
    }
    bool is_new = published == NULL || published->hash != hash;
    if (published == NULL)
        published = published_add(server, uri);
    published->hash = hash;
    published->is_current = true;
    if (is_new)
        server_send(server, json);
    else
        buf_release(&json->buf);
}

/* Whether the name of what is in no file would be complained about. */
static bool is_nameless(const struct diag *diag, const char *uri)
{
    return diag->id == DIAG_BAD_FILE_NAME && strncmp(uri, "file:", 5) != 0;
}

static void publish_module(struct server *server, struct analysis *analysis,
                           const struct module *module, const struct document *document)
{
    struct arena arena = {0};
    struct json_out json = {.is_compact = true};
    bool is_empty = document == NULL;
    const char *uri = document != NULL ? document->uri : module_uri(server, &arena, module);
    notification_open(&json, uri);
    if (document != NULL)
        json_number(&json, "version", document->version);
    json_open(&json, "diagnostics", '[');
    for (const struct diag *at = analysis->compilation.sink.first; at != NULL; at = at->next) {
        if (at->span.source != module->source || is_nameless(at, uri))
            continue;
        write_diagnostic(server, &arena, &json, NULL, analysis, at);
        is_empty = false;
    }
    notification_close(&json);
    publish(server, uri, &json, is_empty);
    arena_release(&arena);
}

/* The one thing to say of a document without a text. */
static void publish_lost(struct server *server, const struct document *document)
{
    struct json_out json = {.is_compact = true};
    notification_open(&json, document->uri);
    json_number(&json, "version", document->version);
    json_open(&json, "diagnostics", '[');
    json_open(&json, NULL, '{');
    json_open(&json, "range", '{');
    write_position(&json, "start", (struct position){0, 0});
    write_position(&json, "end", (struct position){0, 0});
    json_close(&json, '}');
    json_number(&json, "severity", SEVERITY_ERROR);
    json_text(&json, "source", "culexc");
    json_text(&json, "message", "the file is larger than 1 MiB, or its text was not understood");
    json_close(&json, '}');
    notification_close(&json);
    publish(server, document->uri, &json, false);
}

static void publish_imports(struct server *server, struct analysis *analysis)
{
    for (struct module *at = analysis->compilation.modules; at != NULL; at = at->next) {
        struct arena arena = {0};
        const char *uri = module_uri(server, &arena, at);
        const struct published *published = published_find(server, uri);
        bool is_open = document_find(&server->documents, uri) != NULL;
        if (!is_open && (published == NULL || !published->is_current))
            publish_module(server, analysis, at, NULL);
        arena_release(&arena);
    }
}

/* Clears what the editor still shows of files that nobody looks at any more. */
static void publish_nothing(struct server *server)
{
    struct published **at = &server->published;
    while (*at != NULL) {
        if ((*at)->is_current) {
            at = &(*at)->next;
            continue;
        }
        struct json_out json = {.is_compact = true};
        notification_open(&json, (*at)->uri);
        json_open(&json, "diagnostics", '[');
        notification_close(&json);
        server_send(server, &json);
        published_drop(at);
    }
}

void server_publish(struct server *server)
{
    for (struct published *at = server->published; at != NULL; at = at->next)
        at->is_current = false;
    for (struct document *at = server->documents.first; at != NULL; at = at->next) {
        struct analysis *analysis = at->is_lost ? NULL : server_analysis(server, at);
        if (analysis == NULL || analysis->module == NULL)
            publish_lost(server, at);
        else
            publish_module(server, analysis, analysis->module, at);
    }
    for (struct document *at = server->documents.first; at != NULL; at = at->next) {
        if (at->analysis != NULL)
            publish_imports(server, at->analysis);
    }
    publish_nothing(server);
    server->is_due = false;
}
