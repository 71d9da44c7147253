/* document.h - the files that the editor has open, with what it has not saved. */
#ifndef CULEXC_DOCUMENT_H
#define CULEXC_DOCUMENT_H

#include "analysis.h"
#include "json_tree.h"

struct document {
    struct overlay overlay; /* what the compiler reads instead of the file */
    char *uri;
    char *path;
    struct buf text;
    int64_t version;
    bool is_lost; /* too large, or an edit of it was unreadable: nothing is known of the text */
    struct analysis *analysis; /* NULL: none of the present texts */
    struct document *next;
};

struct documents {
    struct document *first;
    unsigned count;
};

/* NULL when it is not open. URIs that differ only in their escapes are one. */
struct document *document_find(const struct documents *documents, const char *uri);

/* Opens, or replaces the text of what is open. False when too many are open. */
bool document_open(struct documents *documents, const char *uri, const struct json *text,
                   int64_t version);
void document_close(struct documents *documents, const char *uri);
void documents_release(struct documents *documents);

/* Applies one element of contentChanges. */
void document_change(struct document *document, const struct json *change, enum encoding encoding);

/* The texts of all documents, chained; any analysis made of an older state is dropped. */
const struct overlay *documents_overlays(struct documents *documents);
void documents_outdate(struct documents *documents);

#endif
