#include "test/params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "core/json.h"
#include "core/secret.h"

const culex_field *culex__params_field(const culex_job_type *type, const char *name)
{
    for (size_t i = 0; i < type->params->field_count; i++) {
        if (strcmp(type->params->fields[i].name, name) == 0)
            return &type->params->fields[i];
    }
    return NULL;
}

/* --- one value
 * ------------------------------------------------------------------------------------ */

/* A param that readers must understand has a '!' before its name. No name needs an escape. */
static bool name_is(const struct culex__json_text *name, const char *wire)
{
    size_t skipped = name->len > 0 && name->data[0] == '!';
    return name->len - skipped == strlen(wire) &&
           memcmp(name->data + skipped, wire, name->len - skipped) == 0;
}

/* Leaves `json` at the value. */
static bool value_find(struct culex__json *json, const char *wire)
{
    struct culex__json_text name;
    bool goes_on = culex__json_take(json, '{');
    while (goes_on && culex__json_peek(json) == '"') {
        if (culex__json_string(json, &name) != NULL || !culex__json_take(json, ':'))
            return false;
        (void)culex__json_peek(json);
        if (name_is(&name, wire))
            return true;
        goes_on =
            culex__json_skip(json, CULEX_PAYLOAD_DEPTH_MAX) == NULL && culex__json_take(json, ',');
    }
    return false;
}

static bool string_is(const struct culex__json_text *value, const char *text)
{
    char *bytes = malloc(value->len + 1);
    if (bytes == NULL)
        return false;
    size_t len = culex__json_unescape(value, bytes);
    bool is_same = len == strlen(text) && memcmp(bytes, text, len) == 0;
    free(bytes);
    return is_same;
}

bool culex__params_say(const culex_buf *payload, const culex_field *field, const char *text)
{
    struct culex__json json = {
        .start = payload->data, .at = payload->data, .end = payload->data + payload->len};
    struct culex__json_text value;
    if (!value_find(&json, field->wire))
        return strcmp(text, field->shape == CULEX_SHAPE_LIST ? "[]" : "null") == 0;
    const char *from = json.at;
    if (*from == '"')
        return culex__json_string(&json, &value) == NULL && string_is(&value, text);
    if (culex__json_skip(&json, CULEX_PAYLOAD_DEPTH_MAX) != NULL)
        return false;
    size_t len = (size_t)(json.at - from);
    return len == strlen(text) && memcmp(from, text, len) == 0;
}

/* --- all of them
 * ------------------------------------------------------------------------------------ */

void culex__params_show(const culex_job_type *type, const void *params, const culex_buf *payload,
                        char *ret_text, size_t size)
{
    culex_buf secrets;
    culex_buf_init(&secrets, 16 * CULEX_PAYLOAD_MAX);
    if (culex__secrets_collect(type->params, params, &secrets))
        culex__secrets_scrub(&secrets, payload->data, payload->len, false, ret_text, size);
    else
        snprintf(ret_text, size, "{...}");
    culex_buf_release(&secrets);
}
