/* reader.c - walks through the events of libyaml. */
#include "reader.h"

#include <assert.h>
#include <string.h>

#include "base/utf8.h"

/* The byte of the n-th character, as libyaml counts. */
static uint32_t offset_of(const struct source *source, size_t character)
{
    uint32_t at = 0;
    while (at < source->size && character > 0) {
        at++;
        while (at < source->size && ((unsigned char)source->text[at] & 0xc0) == 0x80)
            at++;
        character--;
    }
    return at;
}

static struct span span_of(const struct reader *reader, yaml_mark_t start, yaml_mark_t end)
{
    uint32_t from = offset_of(reader->source, start.index);
    uint32_t to = offset_of(reader->source, end.index);
    assert(from <= to);
    return (struct span){reader->source, from, to - from};
}

static struct span event_span(const struct reader *reader)
{
    return span_of(reader, reader->event.start_mark, reader->event.end_mark);
}

/* libyaml knows the place of what it cannot read at all in bytes. */
static void report_problem(struct reader *reader)
{
    const yaml_parser_t *yaml = &reader->yaml;
    const char *text = reader->source->text;
    struct span span = span_of(reader, yaml->problem_mark, yaml->problem_mark);
    if (yaml->error == YAML_MEMORY_ERROR)
        memory_exhausted();
    if (yaml->error == YAML_READER_ERROR)
        span.offset = (uint32_t)yaml->problem_offset;
    diag_report(reader->sink, DIAG_PROJECT_SYNTAX, span, "%s", yaml->problem);
    if (yaml->context != NULL && yaml->error != YAML_READER_ERROR)
        diag_note(reader->sink, span_of(reader, yaml->context_mark, yaml->context_mark), "%s",
                  yaml->context);
    if (span.offset < reader->source->size && text[span.offset] == '\t')
        diag_help(reader->sink, "only blanks indent a line in YAML, a tab does not");
}

static bool event_next(struct reader *reader)
{
    yaml_event_delete(&reader->event);
    if (yaml_parser_parse(&reader->yaml, &reader->event) != 0)
        return true;
    report_problem(reader);
    return false;
}

/* Goes behind the present event and the one after it. */
static bool event_next_but_one(struct reader *reader)
{
    if (!event_next(reader))
        return false;
    return event_next(reader);
}

static bool is_event(const struct reader *reader, yaml_event_type_t type)
{
    return reader->event.type == type;
}

static bool refuse(struct reader *reader, const char *wanted)
{
    diag_report(reader->sink, DIAG_PROJECT_SYNTAX, event_span(reader), "%s", wanted);
    return false;
}

/* The scalar that is the present event; false after a report. */
static bool word_read(struct reader *reader, struct word *ret_word)
{
    assert(is_event(reader, YAML_SCALAR_EVENT)); /* The data of events are a union. */
    const char *text = (const char *)reader->event.data.scalar.value;
    size_t len = reader->event.data.scalar.length;
    *ret_word = (struct word){arena_copy(reader->sink->arena, text, len), event_span(reader)};
    return strlen(ret_word->text) == len || refuse(reader, "a text has no NUL inside");
}

/* libyaml takes time by the square of the depth. */
enum { DEPTH_MAX = 16 };

/* Goes behind the value that begins with the present event. */
static bool value_skip(struct reader *reader)
{
    unsigned depth = 0;
    do {
        bool is_start = is_event(reader, YAML_SEQUENCE_START_EVENT) ||
                        is_event(reader, YAML_MAPPING_START_EVENT);
        bool is_end =
            is_event(reader, YAML_SEQUENCE_END_EVENT) || is_event(reader, YAML_MAPPING_END_EVENT);
        assert(depth > 0 || !is_end); /* libyaml gives each key a value, if an empty one. */
        depth = depth + is_start - is_end;
        if (depth > DEPTH_MAX)
            return refuse(reader, "the lists are too deep");
        if (!event_next(reader))
            return false;
    } while (depth > 0);
    return true;
}

static bool value_read(struct reader *reader)
{
    struct word word;
    if (!is_event(reader, YAML_SCALAR_EVENT))
        return refuse(reader, "a value is a text or a list of texts");
    if (!word_read(reader, &word))
        return false;
    reader->take_value(reader, &word);
    return event_next(reader);
}

static bool list_read(struct reader *reader)
{
    struct span start = event_span(reader);
    if (!event_next(reader))
        return false;
    if (is_event(reader, YAML_SEQUENCE_END_EVENT))
        diag_report(reader->sink, DIAG_PROJECT_VALUE, start, "the list is empty");
    reader->is_in_list = true;
    bool is_good = true;
    while (is_good && !is_event(reader, YAML_SEQUENCE_END_EVENT))
        is_good = value_read(reader);
    reader->is_in_list = false;
    return is_good && event_next(reader);
}

static bool pair_read(struct reader *reader)
{
    struct word key;
    if (!is_event(reader, YAML_SCALAR_EVENT))
        return refuse(reader, "a key is a word");
    if (!word_read(reader, &key))
        return false;
    bool is_good = reader->take_key(reader, &key);
    if (!event_next(reader))
        return false;
    if (!is_good)
        return value_skip(reader);
    return is_event(reader, YAML_SEQUENCE_START_EVENT) ? list_read(reader) : value_read(reader);
}

static bool document_read(struct reader *reader)
{
    if (!event_next(reader))
        return false;
    if (!is_event(reader, YAML_MAPPING_START_EVENT))
        return refuse(reader, "the file is a list of keys, each with its value");
    if (!event_next(reader))
        return false;
    while (!is_event(reader, YAML_MAPPING_END_EVENT)) {
        if (!pair_read(reader))
            return false;
    }
    return event_next_but_one(reader);
}

/* A file without a document, of comments only, is empty and good. */
static void stream_read(struct reader *reader)
{
    if (!event_next_but_one(reader) || is_event(reader, YAML_STREAM_END_EVENT))
        return;
    if (document_read(reader) && !is_event(reader, YAML_STREAM_END_EVENT))
        refuse(reader, "the file is one document, and here begins another");
}

void reader_run(struct reader *reader)
{
    const struct source *source = reader->source;
    size_t valid = culex__utf8_prefix(source->text, source->size);
    if (valid < source->size) {
        diag_report(reader->sink, DIAG_INVALID_UTF8, (struct span){source, (uint32_t)valid, 1},
                    "this is not UTF-8");
        return;
    }
    reader->event = (yaml_event_t){0};
    if (yaml_parser_initialize(&reader->yaml) == 0)
        memory_exhausted();
    yaml_parser_set_encoding(&reader->yaml, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader->yaml, (const unsigned char *)source->text, source->size);
    stream_read(reader);
    yaml_event_delete(&reader->event);
    yaml_parser_delete(&reader->yaml);
}
