/* diag_junit.c - diagnostics as JUnit's XML, which every CI reads: a file is a suite of tests. */
#include <inttypes.h>
#include <string.h>

#include "buf.h"
#include "diag_print.h"
#include "shown.h"

/* What XML cannot hold, or a reader would not see as it is, becomes '?'. */
static void xml_text(struct buf *buf, const char *text)
{
    static const char marks[] = "&<>\"\n\t";
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#10;", "&#9;"};
    size_t len = strlen(text);
    for (size_t at = 0, length; at < len; at += length) {
        uint32_t code;
        length = shown_char(text + at, len - at, "\n\t", &code);
        const char *mark = strchr(marks, text[at]);
        if (mark != NULL)
            buf_text(buf, names[mark - marks]);
        else if (code == '?' || (code & 0xfffe) == 0xfffe)
            buf_char(buf, '?');
        else
            buf_append(buf, text + at, length);
    }
}

static void xml_attribute(struct buf *buf, const char *name, const char *value)
{
    buf_printf(buf, " %s=\"", name);
    xml_text(buf, value);
    buf_char(buf, '"');
}

static void suite_open(struct junit *junit, const char *name, unsigned tests, unsigned failures,
                       unsigned errors)
{
    struct buf *buf = &junit->suites;
    buf_text(buf, "  <testsuite");
    xml_attribute(buf, "name", name);
    buf_printf(buf, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"0\">\n", tests, failures,
               errors);
    junit->tests += tests;
    junit->failures += failures;
    junit->errors += errors;
}

static void suite_close(struct junit *junit)
{
    buf_text(&junit->suites, "  </testsuite>\n");
}

/* Up to the end of the start tag, which is left open. */
static void case_open(struct buf *buf, const char *suite, const char *name)
{
    buf_text(buf, "    <testcase");
    xml_attribute(buf, "classname", suite);
    xml_attribute(buf, "name", name);
}

static void note_write(struct buf *buf, const struct diag_note *note)
{
    struct buf line = {0};
    if (note->span.source != NULL) {
        struct place place = span_place(note->span);
        buf_printf(&line, "%s:%" PRIu32 ":%" PRIu32 ": ", note->span.source->path, place.line,
                   place.column);
    }
    buf_printf(&line, "note: %s\n", note->text);
    xml_text(buf, line.data);
    buf_release(&line);
}

/* The same lines that people get, without the excerpt. */
static void diag_text(struct buf *buf, const struct diag *diag)
{
    struct buf line = {0};
    struct place place = span_place(diag->span);
    buf_printf(&line, "%s:%" PRIu32 ":%" PRIu32 ": %s: %s [%s]\n", diag->span.source->path,
               place.line, place.column, diag->severity == DIAG_ERROR ? "error" : "warning",
               diag->text, diag_slug(diag->id));
    xml_text(buf, line.data);
    buf_release(&line);
    for (const struct diag_note *note = diag->notes; note != NULL; note = note->next)
        note_write(buf, note);
    if (diag->help != NULL) {
        buf_text(buf, "help: ");
        xml_text(buf, diag->help);
        buf_text(buf, "&#10;");
    }
}

static bool is_failure(const struct diag *diag, bool is_strict)
{
    return is_strict || diag->severity == DIAG_ERROR;
}

/* What is no failure is a test that passed and said something. */
static void case_write(struct buf *buf, const struct diag *diag, bool has_failed)
{
    char name[128];
    struct place place = span_place(diag->span);
    snprintf(name, sizeof(name), "%" PRIu32 ":%" PRIu32 " %s", place.line, place.column,
             diag_slug(diag->id));
    case_open(buf, diag->span.source->path, name);
    xml_attribute(buf, "file", diag->span.source->path);
    buf_printf(buf, " line=\"%" PRIu32 "\">\n      <%s", place.line,
               has_failed ? "failure" : "system-out");
    if (has_failed) {
        xml_attribute(buf, "type", diag->severity == DIAG_ERROR ? "error" : "warning");
        xml_attribute(buf, "message", diag->text);
    }
    buf_char(buf, '>');
    diag_text(buf, diag);
    buf_printf(buf, "</%s>\n    </testcase>\n", has_failed ? "failure" : "system-out");
}

/* Writes the diagnostics of the file that the first one is in; returns the first of the next. */
static const struct diag *suite_write(struct junit *junit, const struct diag *first, bool is_strict)
{
    const struct source *source = first->span.source;
    unsigned tests = 0, failures = 0;
    const struct diag *at = first;
    for (; at != NULL && at->span.source == source; at = at->next) {
        tests++;
        failures += is_failure(at, is_strict);
    }
    suite_open(junit, source->path, tests, failures, 0);
    for (const struct diag *diag = first; diag != at; diag = diag->next)
        case_write(&junit->suites, diag, is_failure(diag, is_strict));
    suite_close(junit);
    return at;
}

void junit_init(struct junit *junit)
{
    *junit = (struct junit){0};
    map_init(&junit->seen, &junit->arena);
}

static void seen_add(struct junit *junit, const char *path)
{
    map_add(&junit->seen, arena_copy(&junit->arena, path, strlen(path)), junit);
}

void junit_add(struct junit *junit, const struct diag_sink *sink, bool is_strict)
{
    const struct diag *at = sink->first;
    while (at != NULL) {
        seen_add(junit, at->span.source->path);
        at = suite_write(junit, at, is_strict);
    }
}

/* A test that passed, or that could not be made. */
static void suite_of_one(struct junit *junit, const char *name, const char *test, const char *fault)
{
    suite_open(junit, name, 1, 0, fault != NULL);
    case_open(&junit->suites, name, test);
    if (fault != NULL) {
        buf_text(&junit->suites, ">\n      <error");
        xml_attribute(&junit->suites, "message", fault);
        buf_text(&junit->suites, "/>\n    </testcase>\n");
    } else {
        buf_text(&junit->suites, "/>\n");
    }
    suite_close(junit);
}

void junit_add_fault(struct junit *junit, const char *path, const char *fault)
{
    seen_add(junit, path);
    suite_of_one(junit, path, "read", fault);
}

void junit_print(struct junit *junit, FILE *out, const char *name, const struct texts *files,
                 bool is_complete)
{
    for (size_t i = 0; i < files->count; i++) {
        if (map_get(&junit->seen, files->items[i]) == NULL)
            suite_of_one(junit, files->items[i], name, NULL);
    }
    if (!is_complete && junit->errors == 0)
        suite_of_one(junit, "culexc", name, "something could not be read or written");
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"culexc %s\" "
            "tests=\"%u\" failures=\"%u\" errors=\"%u\">\n%s</testsuites>\n",
            name, junit->tests, junit->failures, junit->errors,
            junit->suites.data == NULL ? "" : junit->suites.data);
    buf_release(&junit->suites);
    arena_release(&junit->arena);
}
