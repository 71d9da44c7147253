#include "server.h"

#include <stdlib.h>
#include <string.h>

#include "request.h"
#include "uri.h"

static void answer_initialize(struct request *request);
static void answer_shutdown(struct request *request);
static void take_initialized(struct request *request);
static void take_exit(struct request *request);
static void take_open(struct request *request);
static void take_change(struct request *request);
static void take_close(struct request *request);
static void take_disk_change(struct request *request);

static const struct method {
    const char *name;
    void (*handle)(struct request *request);
    bool is_notification;
} methods[] = {
    {"initialize", answer_initialize, false},
    {"shutdown", answer_shutdown, false},
    {"textDocument/hover", answer_hover, false},
    {"textDocument/completion", answer_completion, false},
    {"textDocument/definition", answer_definition, false},
    {"textDocument/references", answer_references, false},
    {"textDocument/documentHighlight", answer_highlight, false},
    {"textDocument/prepareRename", answer_prepare_rename, false},
    {"textDocument/rename", answer_rename, false},
    {"textDocument/documentSymbol", answer_symbols, false},
    {"textDocument/semanticTokens/full", answer_tokens, false},
    {"textDocument/foldingRange", answer_folding, false},
    {"workspace/symbol", answer_find, false},
    {"textDocument/codeAction", answer_actions, false},
    {"textDocument/formatting", answer_formatting, false},
    {"initialized", take_initialized, true},
    {"exit", take_exit, true},
    {"textDocument/didOpen", take_open, true},
    {"textDocument/didChange", take_change, true},
    {"textDocument/didSave", take_disk_change, true},
    {"textDocument/didClose", take_close, true},
    {"workspace/didChangeWatchedFiles", take_disk_change, true},
};

static const struct method *method_find(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    }
    return NULL;
}

/* All that was known of the texts is out of date. */
static void texts_changed(struct server *server)
{
    documents_outdate(&server->documents);
    server->is_due = true;
}

static void encoding_choose(struct server *server, const struct json *encodings)
{
    static const struct {
        const char *name;
        enum encoding encoding;
    } known[] = {{"utf-8", ENCODING_UTF8}, {"utf-32", ENCODING_UTF32}, {"utf-16", ENCODING_UTF16}};
    const struct json *item = encodings->kind == JSON_ARRAY ? encodings->first : NULL;
    for (; item != NULL; item = item->next) { /* In the order in which the editor likes them. */
        for (size_t i = 0; i < 3; i++) {
            if (json_string(item) == NULL || strcmp(item->text, known[i].name) != 0)
                continue;
            server->input.encoding = known[i].encoding;
            return;
        }
    }
}

static void folder_add(struct server *server, const struct json *uri)
{
    struct arena arena = {0};
    const char *path = json_string(uri) == NULL ? NULL : uri_path(&arena, uri->text);
    if (path != NULL && server->folder_count < LIMIT_FOLDERS) {
        size_t size = strlen(path) + 1;
        server->folders[server->folder_count++] = memcpy(memory_resize(NULL, size), path, size);
    }
    arena_release(&arena);
}

static void folders_read(struct server *server, const struct json *params)
{
    const struct json *list = json_get(params, "workspaceFolders");
    const struct json *item = list->kind == JSON_ARRAY ? list->first : NULL;
    for (; item != NULL; item = item->next)
        folder_add(server, json_get(item, "uri"));
    if (server->folder_count == 0)
        folder_add(server, json_get(params, "rootUri"));
}

static bool has_flag(const struct json *capabilities, const char *path)
{
    const struct json *flag = json_get(capabilities, path);
    return flag->kind == JSON_BOOL && flag->number != 0;
}

static void capabilities_read(struct server *server, const struct json *capabilities)
{
    encoding_choose(server, json_get(capabilities, "general.positionEncodings"));
    server->has_markdown =
        json_has_text(json_get(capabilities, "textDocument.hover.contentFormat"), "markdown");
    server->has_related =
        has_flag(capabilities, "textDocument.publishDiagnostics.relatedInformation");
    server->has_snippets =
        has_flag(capabilities, "textDocument.completion.completionItem.snippetSupport");
    server->can_watch =
        has_flag(capabilities, "workspace.didChangeWatchedFiles.dynamicRegistration");
}

static void write_capabilities(struct json_out *json, enum encoding encoding)
{
    static const char *const names[] = {"utf-16", "utf-8", "utf-32"};
    static const char *const providers[] = {"hoverProvider",
                                            "definitionProvider",
                                            "referencesProvider",
                                            "documentHighlightProvider",
                                            "documentSymbolProvider",
                                            "documentFormattingProvider",
                                            "foldingRangeProvider",
                                            "workspaceSymbolProvider",
                                            NULL};
    json_open(json, "capabilities", '{');
    json_text(json, "positionEncoding", names[encoding]);
    json_open(json, "textDocumentSync", '{');
    json_bool(json, "openClose", true);
    json_number(json, "change", 2); /* incremental */
    json_bool(json, "save", true);
    json_close(json, '}');
    for (const char *const *provider = providers; *provider != NULL; provider++)
        json_bool(json, *provider, true);
    json_open(json, "completionProvider", '{');
    json_open(json, "triggerCharacters", '[');
    for (const char *at = ".\"/[("; *at != '\0'; at++)
        json_text_len(json, NULL, at, 1);
    json_close(json, ']');
    json_close(json, '}');
    json_open(json, "renameProvider", '{');
    json_bool(json, "prepareProvider", true);
    json_close(json, '}');
    json_open(json, "semanticTokensProvider", '{');
    write_token_legend(json);
    json_bool(json, "full", true);
    json_close(json, '}');
    json_open(json, "codeActionProvider", '{');
    json_open(json, "codeActionKinds", '[');
    json_text(json, NULL, "quickfix");
    json_close(json, ']');
    json_close(json, '}');
    json_close(json, '}');
}

static void answer_initialize(struct request *request)
{
    struct server *server = request->server;
    if (server->is_initialized) {
        request_refuse(request, FAULT_INVALID_REQUEST, "initialized twice");
        return;
    }
    server->is_initialized = true;
    capabilities_read(server, json_get(request->params, "capabilities"));
    folders_read(server, request->params);
    json_open(request->json, "result", '{');
    write_capabilities(request->json, server->input.encoding);
    json_open(request->json, "serverInfo", '{');
    json_text(request->json, "name", "culexc");
    json_text(request->json, "version", CULEXC_VERSION);
    json_close(request->json, '}');
    json_close(request->json, '}');
}

/* Asks to be told when files change on disk. */
static void take_initialized(struct request *request)
{
    struct json_out json = {.is_compact = true};
    if (!request->server->can_watch)
        return;
    json_open(&json, NULL, '{');
    json_text(&json, "jsonrpc", "2.0");
    json_number(&json, "id", ++request->server->requests);
    json_text(&json, "method", "client/registerCapability");
    json_open(&json, "params", '{');
    json_open(&json, "registrations", '[');
    json_open(&json, NULL, '{');
    json_text(&json, "id", "files");
    json_text(&json, "method", "workspace/didChangeWatchedFiles");
    json_open(&json, "registerOptions", '{');
    json_open(&json, "watchers", '[');
    json_open(&json, NULL, '{');
    json_text(&json, "globPattern", "**/{*.job,*.lock,culex.yaml}");
    for (const char *at = "}]}}]}}"; *at != '\0'; at++)
        json_close(&json, *at);
    server_send(request->server, &json);
}

static void answer_shutdown(struct request *request)
{
    request->server->is_shut_down = true;
    json_null(request->json, "result");
}

static void take_exit(struct request *request)
{
    request->server->has_ended = true;
}

static int64_t version_of(const struct json *params)
{
    return json_get(params, "textDocument.version")->number;
}

static void take_open(struct request *request)
{
    const char *uri = json_string(json_get(request->params, "textDocument.uri"));
    const struct json *text = json_get(request->params, "textDocument.text");
    if (uri == NULL)
        return;
    texts_changed(request->server);
    if (!document_open(&request->server->documents, uri, text, version_of(request->params)))
        server_warn(request->server, "culexc: too many files are open, one is not looked at");
}

static void take_change(struct request *request)
{
    const char *uri = json_string(json_get(request->params, "textDocument.uri"));
    struct documents *documents = &request->server->documents;
    struct document *document = uri == NULL ? NULL : document_find(documents, uri);
    const struct json *changes = json_get(request->params, "contentChanges");
    if (document == NULL || changes->kind != JSON_ARRAY)
        return;
    texts_changed(request->server);
    document->version = version_of(request->params);
    for (const struct json *at = changes->first; at != NULL; at = at->next)
        document_change(document, at, request->server->input.encoding);
}

static void take_close(struct request *request)
{
    const char *uri = json_string(json_get(request->params, "textDocument.uri"));
    if (uri == NULL)
        return;
    texts_changed(request->server);
    document_close(&request->server->documents, uri);
}

static void take_disk_change(struct request *request)
{
    texts_changed(request->server);
}

static void write_id(struct json_out *json, const struct json *id)
{
    if (id->kind == JSON_TEXT)
        json_text_len(json, "id", id->text, id->len);
    else if (id->kind == JSON_NUMBER)
        json_number(json, "id", id->number);
    else
        json_null(json, "id");
}

static void answer_open(struct json_out *json, const struct json *id)
{
    *json = (struct json_out){.is_compact = true};
    json_open(json, NULL, '{');
    json_text(json, "jsonrpc", "2.0");
    write_id(json, id);
}

static void send_fault(struct server *server, const struct json *id, int fault, const char *text)
{
    struct json_out json;
    answer_open(&json, id);
    json_open(&json, "error", '{');
    json_number(&json, "code", fault);
    json_text(&json, "message", text);
    json_close(&json, '}');
    json_close(&json, '}');
    server_send(server, &json);
}

static void handle_request(struct request *request, const struct json *id,
                           const struct method *method)
{
    struct json_out json;
    answer_open(&json, id);
    request->json = &json;
    method->handle(request);
    if (request->fault != 0) {
        buf_release(&json.buf);
        send_fault(request->server, id, request->fault, request->fault_text);
        return;
    }
    json_close(&json, '}');
    server_send(request->server, &json);
}

/* Why a request cannot be taken in the present state, 0: it can. */
static int request_fault(const struct server *server, const struct method *method)
{
    if (server->is_shut_down)
        return FAULT_INVALID_REQUEST;
    if (!server->is_initialized && (method == NULL || method->handle != answer_initialize))
        return FAULT_NOT_INITIALIZED;
    return method == NULL ? FAULT_NO_METHOD : 0;
}

static const char *fault_name(int fault)
{
    return fault == FAULT_NOT_INITIALIZED   ? "not initialized"
           : fault == FAULT_INVALID_REQUEST ? "already shut down"
                                            : "no such method";
}

static bool is_id(const struct json *id)
{
    return id->kind == JSON_TEXT || (id->kind == JSON_NUMBER && id->is_whole);
}

static void message_handle(struct server *server, struct arena *arena, const struct json *message)
{
    const struct json *id = json_get(message, "id");
    const struct method *method = method_find(json_string(json_get(message, "method")));
    struct request request = {
        .server = server, .arena = arena, .params = json_get(message, "params")};
    bool is_request = id->kind != JSON_NULL;
    bool has_method = json_get(message, "method")->kind == JSON_TEXT;
    if (message->kind != JSON_OBJECT || (!has_method && !is_request) ||
        (is_request && !is_id(id))) {
        send_fault(server, json_get(NULL, ""), FAULT_INVALID_REQUEST, "not a message");
        return;
    }
    if (!has_method)
        return; /* An answer to what we asked. */
    if (!is_request) {
        bool is_exit = method != NULL && method->handle == take_exit;
        if (method != NULL && method->is_notification && (server->is_initialized || is_exit))
            method->handle(&request);
        return;
    }
    method = method != NULL && method->is_notification ? NULL : method;
    int fault = request_fault(server, method);
    if (fault != 0)
        send_fault(server, id, fault, fault_name(fault));
    else
        handle_request(&request, id, method);
}

static void text_handle(struct server *server, const char *text, size_t len)
{
    struct arena arena = {0};
    struct json_fault fault;
    const struct json *message = json_parse(&arena, text, len, &fault);
    if (message == NULL)
        send_fault(server, json_get(NULL, ""), FAULT_PARSE,
                   arena_printf(&arena, "the message is malformed after %zu bytes: %s",
                                fault.offset, fault.text));
    else
        message_handle(server, &arena, message);
    arena_release(&arena);
}

/* False when there is nothing more to read. */
static bool serve_one(struct server *server)
{
    const char *text;
    size_t len;
    if (server->is_due && rpc_is_idle(&server->rpc))
        server_publish(server);
    switch (rpc_read(&server->rpc, &text, &len)) {
    case RPC_MESSAGE:
        text_handle(server, text, len);
        return true;
    case RPC_TOO_LARGE:
        send_fault(server, json_get(NULL, ""), FAULT_INVALID_REQUEST,
                   "a message of more than 8 MiB was left out");
        return true;
    case RPC_BROKEN:
        send_fault(server, json_get(NULL, ""), FAULT_PARSE,
                   "no Content-Length header, or an unfinished message");
        return false;
    case RPC_END:
        break;
    }
    return false;
}

static void server_release(struct server *server)
{
    documents_release(&server->documents);
    published_release(server);
    rpc_release(&server->rpc);
    for (unsigned i = 0; i < server->folder_count; i++)
        free(server->folders[i]);
}

int server_run(const struct server_options *options)
{
    struct server server = {.rpc = {.in = options->in, .out = options->out},
                            .input = {.include_dirs = options->include_dirs,
                                      .include_count = options->include_count,
                                      .tiers = options->tiers}};
    while (!server.has_ended && serve_one(&server))
        ;
    int status = server.has_ended && server.is_shut_down ? 0 : 1;
    server_release(&server);
    return status;
}
