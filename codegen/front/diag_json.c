/* diag_json.c - diagnostics for programs: JSON lines, and SARIF 2.1.0. */
#include <string.h>

#include "buf.h"
#include "diag_print.h"
#include "json_out.h"

static void json_place(struct json_out *json, struct span span)
{
    struct place start = span_place(span), end = span_end(span);
    json_text(json, "file", span.source->path);
    json_number(json, "line", start.line);
    json_number(json, "column", start.column);
    json_number(json, "end_line", end.line);
    json_number(json, "end_column", end.column);
    json_number(json, "offset", (int64_t)span.offset + span.source->skipped);
    json_number(json, "length", span.length);
}

static void json_notes(struct json_out *json, const struct diag *diag)
{
    json_open(json, "notes", '[');
    for (const struct diag_note *note = diag->notes; note != NULL; note = note->next) {
        json_open(json, NULL, '{');
        if (note->span.source != NULL)
            json_place(json, note->span);
        json_text(json, "message", note->text);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_fixes(struct json_out *json, const struct diag *diag)
{
    json_open(json, "fixes", '[');
    for (const struct diag_fix *fix = diag->fixes; fix != NULL; fix = fix->next) {
        json_open(json, NULL, '{');
        json_place(json, fix->span);
        json_text(json, "text", fix->text);
        json_text(json, "applicability", diag_applicability_word(diag->applicability));
        json_close(json, '}');
    }
    json_close(json, ']');
}

void diag_print_json(const struct diag_sink *sink, FILE *out)
{
    for (const struct diag *diag = sink->first; diag != NULL; diag = diag->next) {
        struct json_out json = {.is_compact = true};
        json_open(&json, NULL, '{');
        json_text(&json, "id", diag_slug(diag->id));
        json_text(&json, "severity", diag->severity == DIAG_ERROR ? "error" : "warning");
        json_place(&json, diag->span);
        json_text(&json, "message", diag->text);
        json_notes(&json, diag);
        json_text(&json, "help", diag->help);
        json_fixes(&json, diag);
        json_close(&json, '}');
        fprintf(out, "%s\n", json.buf.data);
        buf_release(&json.buf);
    }
}

/* A path as a URI reference: a first part with a colon would be read as a scheme. */
static void sarif_artifact(struct json_out *json, const struct source *source)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~/";
    struct buf uri = {0};
    buf_text(&uri, source->path[0] == '/' ? "file://" : "");
    for (const char *at = source->path; *at != '\0'; at++) {
        if (strchr(plain, *at) != NULL)
            buf_char(&uri, *at);
        else
            buf_printf(&uri, "%%%02X", (unsigned)(unsigned char)*at);
    }
    json_open(json, "artifactLocation", '{');
    json_text(json, "uri", uri.data);
    json_close(json, '}');
    buf_release(&uri);
}

static void sarif_region(struct json_out *json, const char *name, struct span span)
{
    struct place start = span_place(span), end = span_end(span);
    json_open(json, name, '{');
    json_number(json, "startLine", start.line);
    json_number(json, "startColumn", start.column);
    json_number(json, "endLine", end.line);
    json_number(json, "endColumn", end.column);
    json_close(json, '}');
}

static void sarif_message(struct json_out *json, const char *text, const char *help)
{
    struct buf buf = {0};
    buf_text(&buf, text);
    if (help != NULL)
        buf_printf(&buf, "\nhelp: %s", help);
    json_open(json, "message", '{');
    json_text(json, "text", buf.data);
    json_close(json, '}');
    buf_release(&buf);
}

static void sarif_place(struct json_out *json, struct span span)
{
    json_open(json, "physicalLocation", '{');
    sarif_artifact(json, span.source);
    sarif_region(json, "region", span);
    json_close(json, '}');
}

static void sarif_notes(struct json_out *json, const struct diag *diag)
{
    if (diag->notes == NULL)
        return;
    json_open(json, "relatedLocations", '[');
    for (const struct diag_note *note = diag->notes; note != NULL; note = note->next) {
        json_open(json, NULL, '{');
        if (note->span.source != NULL)
            sarif_place(json, note->span);
        sarif_message(json, note->text, NULL);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void sarif_replacement(struct json_out *json, const struct diag_fix *fix)
{
    json_open(json, NULL, '{');
    sarif_region(json, "deletedRegion", fix->span);
    json_open(json, "insertedContent", '{');
    json_text(json, "text", fix->text);
    json_close(json, '}');
    json_close(json, '}');
}

/* All changes of one diagnostic are one fix; those of one file stand together in it. */
static void sarif_fix(struct json_out *json, const struct diag *diag)
{
    if (diag->fixes == NULL)
        return;
    json_open(json, "fixes", '[');
    json_open(json, NULL, '{');
    json_open(json, "artifactChanges", '[');
    for (const struct diag_fix *fix = diag->fixes; fix != NULL; fix = fix->next) {
        json_open(json, NULL, '{');
        sarif_artifact(json, fix->span.source);
        json_open(json, "replacements", '[');
        sarif_replacement(json, fix);
        while (fix->next != NULL && fix->next->span.source == fix->span.source)
            sarif_replacement(json, fix = fix->next);
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
    json_open(json, "properties", '{');
    json_text(json, "applicability", diag_applicability_word(diag->applicability));
    json_close(json, '}');
    json_close(json, '}');
    json_close(json, ']');
}

static void sarif_result(struct sarif *sarif, const struct diag *diag)
{
    struct json_out json = {.is_compact = true};
    if (sarif->rules[diag->id] == 0)
        sarif->rules[diag->id] = ++sarif->rule_count;
    json_open(&json, NULL, '{');
    json_text(&json, "ruleId", diag_slug(diag->id));
    json_number(&json, "ruleIndex", sarif->rules[diag->id] - 1);
    json_text(&json, "level", diag->severity == DIAG_ERROR ? "error" : "warning");
    sarif_message(&json, diag->text, diag->help);
    json_open(&json, "locations", '[');
    json_open(&json, NULL, '{');
    sarif_place(&json, diag->span);
    json_close(&json, '}');
    json_close(&json, ']');
    sarif_notes(&json, diag);
    sarif_fix(&json, diag);
    json_close(&json, '}');
    buf_text(&sarif->results, sarif->results.len > 0 ? ",\n" : "\n");
    buf_append(&sarif->results, json.buf.data, json.buf.len);
    buf_release(&json.buf);
}

void sarif_add(struct sarif *sarif, const struct diag_sink *sink)
{
    for (const struct diag *diag = sink->first; diag != NULL; diag = diag->next)
        sarif_result(sarif, diag);
}

static void sarif_rule(struct json_out *json, enum diag_id id)
{
    const char *text = diag_explanation(id);
    bool is_error = diag_default_severity(id) == DIAG_ERROR;
    json_open(json, NULL, '{');
    json_text(json, "id", diag_slug(id));
    json_open(json, "fullDescription", '{');
    json_text_len(json, "text", text, diag_prose_length(text));
    json_close(json, '}');
    json_open(json, "help", '{');
    json_text(json, "text", text);
    json_close(json, '}');
    json_open(json, "defaultConfiguration", '{');
    json_text(json, "level", is_error ? "error" : "warning");
    json_close(json, '}');
    json_close(json, '}');
}

static void sarif_rules(const struct sarif *sarif, struct json_out *json)
{
    json_open(json, "rules", '[');
    for (unsigned number = 1; number <= sarif->rule_count; number++) {
        int id = 0;
        while (sarif->rules[id] != number)
            id++;
        sarif_rule(json, (enum diag_id)id);
    }
    json_close(json, ']');
}

void sarif_print(struct sarif *sarif, FILE *out, bool is_complete)
{
    struct json_out json = {.is_compact = true};
    json_open(&json, NULL, '{');
    json_open(&json, "driver", '{');
    json_text(&json, "name", "culexc");
    json_text(&json, "version", CULEXC_VERSION);
    sarif_rules(sarif, &json);
    json_close(&json, '}');
    json_close(&json, '}');
    fprintf(out,
            "{\"$schema\":\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
            "sarif-schema-2.1.0.json\",\n\"version\":\"2.1.0\",\"runs\":[{\"tool\":%s,\n"
            "\"columnKind\":\"unicodeCodePoints\",\"invocations\":[{\"executionSuccessful\":%s}],\n"
            "\"results\":[%s]}]}\n",
            json.buf.data, is_complete ? "true" : "false",
            sarif->results.data == NULL ? "" : sarif->results.data);
    buf_release(&json.buf);
    buf_release(&sarif->results);
}
