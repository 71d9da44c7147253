#include "console/guard.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "command/guess.h"
#include "command/scan.h"

/* ---- by which name ----------------------------------------------------------------------------
 */

/* The host of "name:port" and "[::1]:port", without brackets. */
static struct ops_slice host_of(const char *text)
{
    if (text[0] == '[')
        return (struct ops_slice){text + 1, strcspn(text + 1, "]")};
    return (struct ops_slice){text, strcspn(text, ":")};
}

static bool is_address(struct ops_slice host)
{
    char text[INET6_ADDRSTRLEN + 1], ignored[sizeof(struct in6_addr)];
    if (host.len >= sizeof text)
        return false;
    memcpy(text, host.text, host.len);
    text[host.len] = '\0';
    return inet_pton(AF_INET, text, ignored) == 1 || inet_pton(AF_INET6, text, ignored) == 1;
}

static bool is_among(struct ops_slice host, const char *names)
{
    while (names != NULL && *names != '\0') {
        size_t len = strcspn(names, ",");
        if (len == host.len && strncasecmp(names, host.text, len) == 0)
            return true;
        names += len + (names[len] == ',');
    }
    return false;
}

/* A page of a stranger may have a name of his lead here, but cannot name an address. */
static bool host_pass(const struct request *request, struct failure *ret_failure)
{
    const char *text = request_header(request, "Host");
    const struct ops_slice host = host_of(text != NULL ? text : "");
    if (request->console->is_local)
        return true;
    if (text != NULL && (is_address(host) || is_among(host, "localhost") ||
                         is_among(host, request->console->hosts)))
        return true;
    *ret_failure = failure_make(403, "host", "start culex console with --host and that name",
                                "the header Host does not name this server: %.200s",
                                text != NULL ? text : "it is missing");
    return false;
}

/* Browsers tell which page asks for a change; programs have no reason to. */
static bool origin_pass(const struct request *request, struct failure *ret_failure)
{
    const char *origin = request_header(request, "Origin"), *host = request_header(request, "Host");
    const char *site = request_header(request, "Sec-Fetch-Site");
    const char *name = origin != NULL ? strstr(origin, "://") : NULL;
    bool is_own = origin == NULL ||
                  (name != NULL && host != NULL && strcasecmp(name + strlen("://"), host) == 0);
    if (is_own && (site == NULL || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0))
        return true;
    *ret_failure = failure_make(403, "origin", NULL,
                                "a page of another site may change nothing here: Origin %.200s",
                                origin != NULL ? origin : "is missing");
    return false;
}

/* ---- by whom -----------------------------------------------------------------------------------
 */

static const struct token *token_find(const struct request *request)
{
    static const char scheme[] = "Bearer ";
    const char *given = request_header(request, "Authorization");
    return given != NULL && strncasecmp(given, scheme, sizeof scheme - 1) == 0
               ? tokens_find(request->console->tokens, given + sizeof scheme - 1)
               : NULL;
}

static bool role_pass(struct request *request, struct failure *ret_failure)
{
    if (request->console->tokens == NULL || request->route->is_open)
        return true;
    request->who = token_find(request);
    if (request->who == NULL) {
        *ret_failure = failure_make(401, "token", "send the header Authorization: Bearer TOKEN",
                                    "a token of the server's file is needed");
        return false;
    }
    if (((request->route->roles | ROLE_OPERATE) & (int)request->who->role) != 0)
        return true;
    *ret_failure = failure_make(403, "role", NULL, "the role of this token does not allow it");
    return false;
}

/* ---- what --------------------------------------------------------------------------------------
 */

static bool route_pass(const struct request *request, const char allowed[ROUTE_ALLOWED_SIZE],
                       struct failure *ret_failure)
{
    if (request->route != NULL)
        return true;
    if (allowed[0] != '\0') {
        *ret_failure = failure_make(405, "method", NULL, "this path is for %s, not for %.20s",
                                    allowed, request->method);
        snprintf(ret_failure->allow, sizeof ret_failure->allow, "%s", allowed);
    } else {
        *ret_failure =
            failure_make(404, "no_such_path", "/api/v1/openapi.json tells which paths there are",
                         "there is no such path");
    }
    return false;
}

static bool change_pass(const struct request *request, struct failure *ret_failure)
{
    const char *type = request_header(request, "Content-Type");
    static const char json[] = "application/json";
    if (request->console->is_read_only) {
        *ret_failure = failure_make(403, "read_only", NULL,
                                    "this server was started with --read-only: it changes nothing");
        return false;
    }
    if (!origin_pass(request, ret_failure))
        return false;
    if (type != NULL && strncasecmp(type, json, sizeof json - 1) == 0 &&
        strchr("; ", type[sizeof json - 1]) != NULL)
        return true;
    *ret_failure = failure_make(415, "content_type", NULL,
                                "a POST needs the header Content-Type: application/json, also "
                                "without a body");
    return false;
}

struct query_check {
    const struct route *route;
    struct failure *failure;
    unsigned seen; /* a bit for each of the route's */
    bool is_wrong;
};

static void query_blame(struct query_check *check, const char *name)
{
    snprintf(check->failure->param, sizeof check->failure->param, "%s", name);
    check->is_wrong = true;
}

/* One that comes twice would count once, and the answer would lack what the other wanted. */
static void query_once(struct query_check *check, const struct route_query *query)
{
    unsigned bit = 1u << (query - check->route->queries);
    if ((check->seen & bit) != 0) {
        *check->failure =
            failure_make(400, "invalid", NULL,
                         "%s is given twice: several states have commas between them", query->name);
        query_blame(check, query->name);
    }
    check->seen |= bit;
}

static void query_check(const char *name, void *user)
{
    struct query_check *check = user;
    struct ops_guess guess = ops_guess_begin(name, strlen(name));
    for (const struct route_query *query = check->route->queries;
         query != NULL && query->name != NULL; query++) {
        if (strcmp(query->name, name) == 0) {
            query_once(check, query);
            return;
        }
        ops_guess_add(&guess, query->name);
    }
    *check->failure =
        failure_make(400, "invalid", NULL, "there is no parameter %.64s here%s%s%s", name,
                     guess.best != NULL ? "; did you mean " : "",
                     guess.best != NULL ? guess.best : "", guess.best != NULL ? "?" : "");
    query_blame(check, name);
}

static bool queries_pass(const struct request *request, struct failure *ret_failure)
{
    struct query_check check = {.route = request->route, .failure = ret_failure};
    request_query_each(request, query_check, &check);
    return !check.is_wrong;
}

/* A length that is told is refused before the first byte is taken in. */
static bool body_pass(struct request *request, struct failure *ret_failure)
{
    const char *length = request_header(request, "Content-Length");
    size_t most = request->route->body_max;
    unsigned long long size = length != NULL ? strtoull(length, NULL, 10) : 0;
    if (request_header(request, "Transfer-Encoding") != NULL) {
        *ret_failure = failure_make(411, "length", "send the header Content-Length",
                                    "a body whose length is not told is not taken");
        return false;
    }
    if (size > most) {
        *ret_failure = failure_make(413, "too_large", NULL,
                                    most > 0 ? "the body has more than %zu bytes"
                                             : "there is no body here: at most %zu bytes",
                                    most);
        return false;
    }
    request->body_size = (size_t)size;
    return true;
}

/* Of two, somebody between here and there may go by the other one. libmicrohttpd ends a connection
 * that is answered before its request is read. */
static bool headers_pass(const struct request *request, struct failure *ret_failure)
{
    static const char *const names[] = {"Host", "Content-Length"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (request_header_count(request, names[i]) <= 1)
            continue;
        *ret_failure = failure_make(400, "invalid", NULL, "the header %s is there twice", names[i]);
        return false;
    }
    return true;
}

/* Its route is known even where it may not go on, for the audit. */
bool guard_pass(struct request *request, struct failure *ret_failure)
{
    char allowed[ROUTE_ALLOWED_SIZE] = "";
    request->route = request->path != NULL ? route_find(request, allowed) : NULL;
    return headers_pass(request, ret_failure) && host_pass(request, ret_failure) &&
           route_pass(request, allowed, ret_failure) && role_pass(request, ret_failure) &&
           (!route_is_change(request->route) || change_pass(request, ret_failure)) &&
           queries_pass(request, ret_failure) && body_pass(request, ret_failure);
}
