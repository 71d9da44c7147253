/* request.h - the state of the server, and what handlers of requests share.
 *
 * A handler answers by writing the member "result" to request->json, or refuses. What it needs
 * on the way it allocates in request->arena, which lives until the answer is sent. */
#ifndef CULEXC_REQUEST_H
#define CULEXC_REQUEST_H

#include "document.h"
#include "limits.h"
#include "mark.h"
#include "rpc.h"

/* Diagnostics that the editor shows at present. */
struct published {
    char *uri;
    uint64_t hash;
    bool is_current; /* met in this round */
    struct published *next;
};

struct server {
    struct rpc rpc;
    struct documents documents;
    struct analysis_input input; /* all but the overlays */
    char *folders[LIMIT_FOLDERS];
    unsigned folder_count;
    struct published *published;
    int64_t requests; /* of ours to the editor */
    bool has_markdown, has_related, has_labels, has_snippets, can_watch;
    bool is_initialized, is_shut_down, has_ended;
    bool is_due; /* texts changed since diagnostics were published */
};

enum {
    FAULT_PARSE = -32700,
    FAULT_INVALID_REQUEST = -32600,
    FAULT_NO_METHOD = -32601,
    FAULT_PARAMS = -32602,
    FAULT_NOT_INITIALIZED = -32002,
    FAULT_FAILED = -32803
};

struct request {
    struct server *server;
    struct arena *arena;
    const struct json *params;
    struct json_out *json;
    int fault; /* 0: none */
    const char *fault_text;
};

void request_refuse(struct request *request, int fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The analysis of an open document in its present state. */
struct analysis *server_analysis(struct server *server, struct document *document);

/* The place that a request is about. */
struct target {
    struct document *document;
    struct analysis *analysis;
    struct module *module;
    const struct source *source;
    size_t offset;
};

/* The document of the request. False after an answer of null, when it is not open, or after a
 * refusal. */
bool request_document(struct request *request, struct target *ret_target);
/* The same with the offset. */
bool request_target(struct request *request, struct target *ret_target);
/* The same with the name at that place. */
bool request_mark(struct request *request, struct target *ret_target, const struct mark **ret_mark);

/* The URI of a module's file, the editor's own when it is open there. */
const char *module_uri(struct server *server, struct arena *arena, const struct module *module);

/* {"uri", "range"} */
void write_location(struct request *request, const char *name, struct analysis *analysis,
                    const struct module *module, struct span span);
/* {"range", "newText"} */
void write_edit(struct json_out *json, struct analysis *analysis, struct span span,
                const char *text);

/* Sends a notification or a request of ours, whose text is complete in `json`. */
void server_send(struct server *server, struct json_out *json);
/* A warning that the editor shows. */
void server_warn(struct server *server, const char *text);

/* publish.c: diagnostics of all open documents and of what they import, as far as they changed. */
void server_publish(struct server *server);
void published_release(struct server *server);
void write_diagnostic(struct server *server, struct arena *arena, struct json_out *json,
                      const char *name, struct analysis *analysis, const struct diag *diag);

/* symbols.c: all of a declaration, from its word to its end. */
struct span decl_whole(const struct ast_decl *decl);

/* tokens.c: the member "legend", what the numbers of semantic tokens mean. */
void write_token_legend(struct json_out *json);

/* The handlers, one file a subject. */
void answer_hover(struct request *request);
void answer_completion(struct request *request);
void answer_definition(struct request *request);
void answer_references(struct request *request);
void answer_highlight(struct request *request);
void answer_prepare_rename(struct request *request);
void answer_rename(struct request *request);
void answer_symbols(struct request *request);
void answer_find(struct request *request);
void answer_tokens(struct request *request);
void answer_folding(struct request *request);
void answer_actions(struct request *request);
void answer_formatting(struct request *request);

#endif
