/* reads.c - which values one field writes and another reads: schemas/payload.md, "Values". */
#include <string.h>

#include "change.h"
#include "limits.h"

static enum change_reads range_reads(const struct lock_field *reader,
                                     const struct lock_field *writer)
{
    if (wide_compare(reader->low, writer->low) <= 0 &&
        wide_compare(writer->high, reader->high) <= 0)
        return READS_ALL;
    bool is_apart =
        wide_compare(writer->high, reader->low) < 0 || wide_compare(reader->high, writer->low) < 0;
    return is_apart ? READS_NONE : READS_SOME;
}

static bool is_integer(enum ir_kind kind)
{
    return ir_kinds[kind].bits > 0;
}

static bool is_float(enum ir_kind kind)
{
    return kind == IR_FLOAT32 || kind == IR_FLOAT64;
}

/* A number that a float holds exactly. Integers of 128 bits go as strings, which floats refuse. */
static enum change_reads float_reads_integer(const struct lock_field *reader,
                                             const struct lock_field *writer)
{
    int64_t exact = INT64_C(1) << (reader->kind == IR_FLOAT32 ? 24 : 53);
    if (ir_kinds[writer->kind].bits > 64)
        return READS_NONE;
    bool is_exact = wide_compare(writer->low, wide_from(-exact)) >= 0 &&
                    wide_compare(writer->high, wide_from(exact)) <= 0;
    return is_exact ? READS_ALL : READS_SOME;
}

/* Lengths of the canonical text, when a reader of strings gets the meaning with the text. */
static bool text_lengths(const struct lock_field *writer, int64_t *ret_least, int64_t *ret_most)
{
    *ret_least = 1;
    switch (writer->kind) {
    case IR_UUID:
        *ret_least = *ret_most = 36;
        return true;
    case IR_TIMESTAMP: /* 2026-11-21T04:20:00Z and up to nine decimals */
        *ret_least = 20, *ret_most = 30;
        return true;
    case IR_DURATION: /* 0s to -9223372036.854775808s */
        *ret_least = 2, *ret_most = 22;
        return true;
    case IR_INT128:
    case IR_UINT128:
        *ret_most = 40;
        return true;
    case IR_USER:
        *ret_least = 0, *ret_most = LIMIT_USER_TEXT;
        return true;
    case IR_ENUM:
        *ret_least = LIMIT_NAME_BYTES, *ret_most = 0;
        for (const struct lock_value *at = writer->target->values; at != NULL; at = at->next) {
            int64_t len = (int64_t)strlen(at->name);
            *ret_least = len < *ret_least ? len : *ret_least;
            *ret_most = len > *ret_most ? len : *ret_most;
        }
        return true;
    default: /* Base64 is not what bytes mean, and a char may be the NUL that no string holds. */
        return false;
    }
}

static enum change_reads string_reads(const struct lock_field *reader,
                                      const struct lock_field *writer)
{
    int64_t least, most;
    if (!text_lengths(writer, &least, &most))
        return writer->kind == IR_CHAR ? READS_SOME : READS_NONE;
    bool is_room = wide_compare(reader->low, wide_from(least)) <= 0 &&
                   wide_compare(wide_from(most), reader->high) <= 0;
    return is_room ? READS_ALL : READS_SOME;
}

static enum change_reads same_kind_reads(const struct lock_field *reader,
                                         const struct lock_field *writer)
{
    switch (reader->kind) {
    case IR_STRING:
    case IR_BYTES:
    case IR_TIMESTAMP:
    case IR_DURATION:
        return range_reads(reader, writer);
    case IR_USER: /* Its version is its name without the package, which stands for the text. */
        return strcmp(reader->target->version, writer->target->version) == 0 ? READS_ALL
                                                                             : READS_NONE;
    default: /* An enum's values and a struct's fields are judged one by one. */
        return READS_ALL;
    }
}

enum change_reads change_reads(const struct lock_field *reader, const struct lock_field *writer)
{
    if (is_integer(reader->kind) && is_integer(writer->kind))
        return range_reads(reader, writer);
    if (reader->kind == writer->kind)
        return same_kind_reads(reader, writer);
    if (reader->kind == IR_STRUCT || writer->kind == IR_STRUCT)
        return READS_NONE;
    if (is_float(reader->kind) && is_float(writer->kind))
        return reader->kind == IR_FLOAT64 ? READS_ALL : READS_SOME;
    if (is_float(reader->kind) && is_integer(writer->kind))
        return float_reads_integer(reader, writer);
    if (reader->kind == IR_STRING)
        return string_reads(reader, writer);
    /* Some texts happen to be numbers, dates or names; some numbers happen to be whole. */
    if (writer->kind == IR_STRING && reader->kind != IR_BYTES && reader->kind != IR_BOOL)
        return READS_SOME;
    return is_integer(reader->kind) && is_float(writer->kind) ? READS_SOME : READS_NONE;
}

static int64_t list_most(const struct lock_field *field)
{
    return field->count < 0 ? LIMIT_LIST_COUNT : field->count;
}

enum change_reads change_shape_reads(const struct lock_field *reader,
                                     const struct lock_field *writer)
{
    if (reader->form == SHAPE_SINGLE || writer->form == SHAPE_SINGLE)
        return reader->form == writer->form ? READS_ALL : READS_NONE;
    if (reader->form == SHAPE_ARRAY && writer->form == SHAPE_ARRAY)
        return reader->count == writer->count ? READS_ALL : READS_NONE;
    if (reader->form == SHAPE_ARRAY)
        return READS_SOME; /* And an empty list is not even written. */
    if (writer->form == SHAPE_ARRAY)
        return writer->count <= list_most(reader) ? READS_ALL : READS_NONE;
    return list_most(writer) <= list_most(reader) ? READS_ALL : READS_SOME;
}
