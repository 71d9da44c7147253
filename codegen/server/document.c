#include "document.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "uri.h"

static char *text_copy(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(memory_resize(NULL, size), text, size);
}

/* What tells files apart: the path, or the URI of what is not in a file. */
static char *uri_key(const char *uri)
{
    struct arena arena = {0};
    const char *path = uri_path(&arena, uri);
    const char *real = path_resolve(&arena, path != NULL ? path : uri);
    char *key = text_copy(real != NULL ? real : path != NULL ? path : uri);
    arena_release(&arena);
    return key;
}

struct document *document_find(const struct documents *documents, const char *uri)
{
    struct document *document = documents->first;
    while (document != NULL && strcmp(document->uri, uri) != 0)
        document = document->next;
    if (document != NULL)
        return document;
    char *key = uri_key(uri);
    document = documents->first;
    while (document != NULL && strcmp(document->path, key) != 0)
        document = document->next;
    free(key);
    return document;
}

static void text_set(struct document *document, const struct json *text)
{
    buf_release(&document->text);
    document->is_lost = text->kind != JSON_TEXT || text->len > LIMIT_FILE_BYTES;
    if (!document->is_lost)
        buf_append(&document->text, text->text, text->len);
}

bool document_open(struct documents *documents, const char *uri, const struct json *text,
                   int64_t version)
{
    struct document *document = document_find(documents, uri);
    if (document == NULL && documents->count >= LIMIT_DOCUMENTS)
        return false;
    if (document == NULL) {
        document = memory_resize(NULL, sizeof(*document));
        *document = (struct document){.uri = text_copy(uri), .path = uri_key(uri)};
        document->next = documents->first;
        documents->first = document;
        documents->count++;
    }
    document->version = version;
    text_set(document, text);
    return true;
}

static void document_release(struct document *document)
{
    analysis_release(document->analysis);
    buf_release(&document->text);
    free(document->uri);
    free(document->path);
    free(document);
}

void document_close(struct documents *documents, const char *uri)
{
    struct document *document = document_find(documents, uri);
    struct document **at = &documents->first;
    if (document == NULL)
        return;
    while (*at != document)
        at = &(*at)->next;
    *at = document->next;
    documents->count--;
    document_release(document);
}

void documents_release(struct documents *documents)
{
    while (documents->first != NULL)
        document_close(documents, documents->first->uri);
}

/* Puts `text` in place of the bytes from `start` to `end`. */
static void text_splice(struct document *document, size_t start, size_t end,
                        const struct json *text)
{
    assert(start <= end && end <= document->text.len); /* lines_offset() stays inside. */
    struct buf spliced = {0};
    size_t size = document->text.len - (end - start);
    document->is_lost = size > LIMIT_FILE_BYTES || text->len > LIMIT_FILE_BYTES - size;
    if (!document->is_lost) {
        buf_append(&spliced, document->text.data, start);
        buf_append(&spliced, text->text, text->len);
        buf_append(&spliced, document->text.data + end, document->text.len - end);
    }
    buf_release(&document->text);
    document->text = spliced;
}

void document_change(struct document *document, const struct json *change, enum encoding encoding)
{
    struct position start, end;
    const struct json *text = json_get(change, "text");
    if (json_get(change, "range")->kind == JSON_NULL) {
        text_set(document, text);
        return;
    }
    if (document->is_lost)
        return;
    if (text->kind != JSON_TEXT || !position_read(json_get(change, "range.start"), &start) ||
        !position_read(json_get(change, "range.end"), &end)) {
        document->is_lost = true;
        return;
    }
    struct arena arena = {0};
    buf_text(&document->text, "");
    struct lines lines = lines_find(&arena, document->text.data, document->text.len, encoding);
    size_t from = lines_offset(&lines, start);
    size_t to = lines_offset(&lines, end);
    text_splice(document, from < to ? from : to, from < to ? to : from, text);
    arena_release(&arena);
}

const struct overlay *documents_overlays(struct documents *documents)
{
    const struct overlay *first = NULL;
    for (struct document *at = documents->first; at != NULL; at = at->next) {
        if (at->is_lost)
            continue;
        buf_text(&at->text, "");
        at->overlay = (struct overlay){at->path, at->text.data, at->text.len, first};
        first = &at->overlay;
    }
    return first;
}

void documents_outdate(struct documents *documents)
{
    for (struct document *at = documents->first; at != NULL; at = at->next) {
        analysis_release(at->analysis);
        at->analysis = NULL;
    }
}
