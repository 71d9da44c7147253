#include "core/trace.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/sha256.h"

#define PARENT_HEAD "\"culex.trace\":\""
#define STATE_HEAD  "\"culex.tracestate\":\""

enum {
    ID_AT = 3,
    ID_LEN = 32,
    SPAN_AT = 36,
    SPAN_LEN = 16,
    FLAGS_AT = 53,
    /* Both members, each byte of the state escaped. */
    TAIL_MAX = 2 * CULEX_TRACE_STATE_MAX + CULEX_TRACE_LEN + sizeof PARENT_HEAD + sizeof STATE_HEAD
};

/* ---- texts ------------------------------------------------------------------------------------
 */

static bool is_hex(const char *at, size_t len)
{
    return strspn(at, "0123456789abcdef") >= len;
}

static bool is_zero(const char *at, size_t len)
{
    return strspn(at, "0") >= len;
}

/* NULL, or what is wrong with it. Every test looks only at what those before it have found to be
 * there. */
static const char *parent_wrong(const char *text)
{
    size_t len = strnlen(text, CULEX_TRACE_SIZE);
    if (!is_hex(text, 2))
        return "does not begin with a version, two digits from 0 to 9 and a to f";
    if (strncmp(text, "ff", 2) == 0)
        return "is of version ff, which no text is of";
    if (text[2] != '-')
        return "has no '-' behind its version";
    if (!is_hex(text + ID_AT, ID_LEN) || text[ID_AT + ID_LEN] != '-')
        return "has no trace-id of 32 digits from 0 to 9 and a to f behind its version";
    if (is_zero(text + ID_AT, ID_LEN))
        return "has a trace-id of zeroes alone";
    if (!is_hex(text + SPAN_AT, SPAN_LEN) || text[SPAN_AT + SPAN_LEN] != '-')
        return "has no parent-id of 16 digits from 0 to 9 and a to f behind its trace-id";
    if (is_zero(text + SPAN_AT, SPAN_LEN))
        return "has a parent-id of zeroes alone";
    if (!is_hex(text + FLAGS_AT, 2))
        return "does not have its flags, two digits from 0 to 9 and a to f, behind its parent-id";
    if (len > CULEX_TRACE_LEN && (strncmp(text, "00", 2) == 0 || text[CULEX_TRACE_LEN] != '-'))
        return "has more behind its flags";
    return NULL;
}

static const char *state_wrong(const char *text)
{
    size_t len = strnlen(text, CULEX_TRACE_STATE_SIZE);
    if (len > CULEX_TRACE_STATE_MAX)
        return "is longer than 512 bytes";
    for (size_t i = 0; i < len; i++) {
        if (text[i] < ' ' || text[i] > '~')
            return "has a byte that is no printable ASCII";
    }
    return NULL;
}

static bool digit_is_odd(char digit)
{
    return strchr("13579bdf", digit) != NULL;
}

/* Of what parent_wrong lets pass. */
static void parent_take(const char *text, char ret_parent[CULEX_TRACE_SIZE])
{
    snprintf(ret_parent, CULEX_TRACE_SIZE, "00-%.*s-0%c", SPAN_AT + SPAN_LEN - ID_AT, text + ID_AT,
             digit_is_odd(text[FLAGS_AT + 1]) ? '1' : '0');
}

culex_status culex__trace_read(const char *parent, const char *state, struct culex_trace *ret_trace,
                               culex_error *error)
{
    const char *wrong = parent_wrong(parent);
    if (wrong != NULL)
        return culex__fail(error, CULEX_EINVAL, "traceparent %s", wrong);
    wrong = state != NULL ? state_wrong(state) : NULL;
    if (wrong != NULL)
        return culex__fail(error, CULEX_EINVAL, "tracestate %s", wrong);
    parent_take(parent, ret_trace->parent);
    snprintf(ret_trace->state, sizeof ret_trace->state, "%s", state != NULL ? state : "");
    return CULEX_OK;
}

bool culex__trace_is_sampled(const struct culex_trace *trace)
{
    return trace->parent[0] != '\0' && digit_is_odd(trace->parent[CULEX_TRACE_LEN - 1]);
}

/* ---- in a payload -----------------------------------------------------------------------------
 */

static size_t put(char *text, size_t at, const char *part)
{
    size_t len = strlen(part);
    memcpy(text + at, part, len);
    return at + len;
}

static size_t state_put(char *text, size_t at, const char *state)
{
    at = put(text, at, STATE_HEAD);
    for (; *state != '\0'; state++) {
        if (*state == '"' || *state == '\\')
            text[at++] = '\\';
        text[at++] = *state;
    }
    return put(text, at, "\",");
}

/* The last byte of an object's text in front of the '}' that ends it. '\0': it is none, which its
 * worker will say. */
static char last_of(const culex_buf *text)
{
    size_t at = text->len;
    if (at == 0 || text->data[--at] != '}')
        return '\0';
    while (at > 0 && strchr(" \t\r\n", text->data[at - 1]) != NULL)
        at--;
    return at > 0 ? text->data[at - 1] : '\0';
}

void culex__trace_append(const struct culex_trace *trace, culex_buf *text)
{
    char tail[TAIL_MAX + 8];
    size_t len = 0;
    char last = last_of(text);
    if (trace->parent[0] == '\0' || last == '\0')
        return;
    if (last != '{')
        len = put(tail, len, ",");
    if (trace->state[0] != '\0')
        len = state_put(tail, len, trace->state);
    len = put(tail, len, PARENT_HEAD);
    len = put(tail, len, trace->parent);
    len = put(tail, len, "\"}");
    culex__buf_cut(text, text->len - 1);
    if (culex__buf_append(text, tail, len) != CULEX_OK)
        (void)culex__buf_append(text, "}", 1); /* it had room for that before */
}

/* What stands in `head` and a quote right before `end`; NULL when that is not there. Within a
 * string the quotes of a head would be escaped, so it is a member's. */
static const char *member_before(const char *start, const char *end, const char *head)
{
    size_t len = strlen(head);
    if (end - start <= (ptrdiff_t)len || end[-1] != '"')
        return NULL;
    for (const char *at = end - 1 - len; at >= start; at--) {
        if (memcmp(at, head, len) == 0)
            return at;
    }
    return NULL;
}

/* Without its escapes. Of no use: it stays "". */
static void state_find(const char *start, const char *end, char ret_state[CULEX_TRACE_STATE_SIZE])
{
    const char *at = member_before(start, end, STATE_HEAD);
    size_t len = 0;
    if (at == NULL)
        return;
    for (at += strlen(STATE_HEAD); at < end - 1 && len < CULEX_TRACE_STATE_MAX; at++) {
        if (*at == '"')
            break; /* another member stands between the two */
        at += *at == '\\' && at < end - 2;
        ret_state[len++] = *at;
    }
    ret_state[len] = '\0';
    if (at < end - 1 || state_wrong(ret_state) != NULL)
        ret_state[0] = '\0';
}

bool culex__trace_find(const void *payload, size_t len, struct culex_trace *ret_trace)
{
    static const size_t head = sizeof PARENT_HEAD - 1, whole = sizeof PARENT_HEAD - 1 + 57;
    char text[CULEX_TRACE_SIZE];
    const char *end = (const char *)payload + len;
    ret_trace->parent[0] = ret_trace->state[0] = '\0';
    if (len <= whole || memcmp(end - 2, "\"}", 2) != 0)
        return false;
    const char *member = end - whole;
    if (memcmp(member, PARENT_HEAD, head) != 0 || (member[-1] != ',' && member[-1] != '{'))
        return false;
    memcpy(text, member + head, CULEX_TRACE_LEN);
    text[CULEX_TRACE_LEN] = '\0';
    if (parent_wrong(text) != NULL)
        return false;
    parent_take(text, ret_trace->parent);
    if (member[-1] == ',') {
        size_t before = len - whole - 1;
        size_t room = before < TAIL_MAX ? before : TAIL_MAX;
        state_find(member - 1 - room, member - 1, ret_trace->state);
    }
    return true;
}

/* ---- spans ------------------------------------------------------------------------------------
 */

static void hex_write(const unsigned char *bytes, size_t count, char *ret_text)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        ret_text[2 * i] = digits[bytes[i] >> 4];
        ret_text[2 * i + 1] = digits[bytes[i] & 15];
    }
}

void culex__trace_parent_id(const struct culex_trace *trace, char ret_id[CULEX_SPAN_ID_SIZE])
{
    bool has_one = trace->parent[0] != '\0' && !is_zero(trace->parent + SPAN_AT, SPAN_LEN);
    snprintf(ret_id, CULEX_SPAN_ID_SIZE, "%.*s", SPAN_LEN, has_one ? trace->parent + SPAN_AT : "");
}

void culex__trace_begin(struct culex_trace *trace, culex_uuid id)
{
    snprintf(trace->parent, sizeof trace->parent, "00-%032d-%016d-01", 0, 0);
    hex_write(id.b, sizeof id.b, trace->parent + ID_AT);
    trace->state[0] = '\0';
}

void culex__trace_enter(struct culex_trace *trace, const char *fence)
{
    struct culex_sha256 hash;
    unsigned char digest[CULEX_SHA256_BYTES];
    culex__sha256_begin(&hash);
    culex__sha256_add(&hash, "culex span", sizeof "culex span");
    culex__sha256_add(&hash, fence, strlen(fence));
    culex__sha256_end(&hash, digest);
    digest[SPAN_LEN / 2 - 1] |= digest[SPAN_LEN / 2 - 1] == 0; /* never zeroes alone */
    hex_write(digest, SPAN_LEN / 2, trace->parent + SPAN_AT);
}
