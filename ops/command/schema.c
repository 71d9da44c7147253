/* ops/command/schema.c - culex schema: what a job's params are, for who gives them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <culex/schema.h>
#include <culex/schemas.h>

#include "command/duration.h"
#include "command/print.h"
#include "command/schema_find.h"
#include "command/values.h"

/* A cell that is being written. */
struct cell {
    FILE *out;
    char *text; /* owned */
    size_t len;
};

static void cell_begin(struct cell *cell)
{
    *cell = (struct cell){.out = NULL};
    cell->out = open_memstream(&cell->text, &cell->len);
    if (cell->out == NULL) /* no memory: see ops_alloc */
        ops_alloc(NULL, SIZE_MAX);
}

static void cell_end(struct cell *cell, struct ops_table *table)
{
    fclose(cell->out);
    ops_table_text(table, cell->text);
    free(cell->text);
}

/* --- what has to be given --------------------------------------------------------------------- */

static void default_write(FILE *out, const culex_field *field)
{
    char *usual = ops_default_text(field), span[OPS_DURATION_SIZE];
    culex_duration duration;
    if (culex_schema_default_is_withheld(field))
        fputs("the worker's default", out);
    else if ((field->flags & CULEX_FIELD_REQUIRED) != 0)
        fputs("required", out);
    else if (usual != NULL && field->kind == CULEX_KIND_DURATION) {
        memcpy(&duration, field->def, sizeof duration);
        fprintf(out, "default %s", ops_duration_format(duration, span));
    } else if (usual != NULL)
        fprintf(out, "default %s", usual);
    else
        fputs("optional", out);
    free(usual);
}

static void wanted_add(struct ops_table *table, const culex_field *field)
{
    struct cell cell;
    cell_begin(&cell);
    default_write(cell.out, field);
    if ((field->flags & CULEX_FIELD_ENCRYPTED) != 0)
        fputs(", encrypted", cell.out);
    else if ((field->flags & CULEX_FIELD_SECRET) != 0)
        fputs(", secret", cell.out);
    if ((field->flags & CULEX_FIELD_DEPRECATED) != 0)
        fputs(", deprecated", cell.out);
    if (strcmp(field->name, field->wire) != 0)
        fprintf(cell.out, ", in the store %s", field->wire);
    cell_end(&cell, table);
}

/* --- what may be given ------------------------------------------------------------------------ */

static bool is_unsigned(culex_kind kind)
{
    return kind == CULEX_KIND_UINT8 || kind == CULEX_KIND_UINT16 || kind == CULEX_KIND_UINT32 ||
           kind == CULEX_KIND_UINT64;
}

static void bound_write(FILE *out, const culex_field *field, int64_t bound)
{
    char at[OPS_TIME_SIZE], span[OPS_DURATION_SIZE];
    if (field->kind == CULEX_KIND_DURATION)
        fputs(ops_duration_format(bound, span), out);
    else if (field->kind == CULEX_KIND_TIMESTAMP)
        fputs(ops_time_format(bound / CULEX_MILLISECOND, at), out);
    else if (is_unsigned(field->kind))
        fprintf(out, "%" PRIu64, (uint64_t)bound);
    else
        fprintf(out, "%" PRId64, bound);
}

static void range_write(FILE *out, const culex_field *field)
{
    bool has_min = (field->flags & CULEX_FIELD_MIN) != 0;
    bool has_max = (field->flags & CULEX_FIELD_MAX) != 0;
    if (has_max && !has_min)
        fputs("at most ", out);
    if (has_min)
        bound_write(out, field, field->min);
    fputs(has_min && has_max ? " to " : has_min ? " or more" : "", out);
    if (has_max)
        bound_write(out, field, field->max);
}

static void length_write(FILE *out, const culex_field *field)
{
    if (field->max_len == 0)
        fprintf(out, "%zu bytes or more", field->min_len);
    else if (field->min_len == field->max_len)
        fprintf(out, "%zu bytes", field->max_len);
    else if (field->min_len == 0)
        fprintf(out, "at most %zu bytes", field->max_len);
    else
        fprintf(out, "%zu to %zu bytes", field->min_len, field->max_len);
}

static void names_write(FILE *out, const culex_enum_type *type)
{
    for (size_t i = 0; i < type->value_count; i++)
        fprintf(out, "%s%s", i > 0 ? " | " : "", type->values[i].name);
}

/* How a value of the kind is written, where that does not go without saying. */
static const char *kind_hint(const culex_field *field)
{
    switch (field->kind) {
    case CULEX_KIND_BOOL:
        return "true | false";
    case CULEX_KIND_BYTES:
        return "base64, or hex:00ff";
    case CULEX_KIND_TIMESTAMP:
        return "as 2026-11-30T09:30:00Z";
    case CULEX_KIND_DURATION:
        return "as 1h30m";
    default:
        return "";
    }
}

static void values_add(struct ops_table *table, const culex_field *field)
{
    struct cell cell;
    bool has_range = (field->flags & (CULEX_FIELD_MIN | CULEX_FIELD_MAX)) != 0;
    bool has_length = field->min_len > 0 || field->max_len > 0;
    const char *hint = kind_hint(field);
    cell_begin(&cell);
    if (field->enum_type != NULL)
        names_write(cell.out, field->enum_type);
    if (has_range)
        range_write(cell.out, field);
    if (has_length)
        length_write(cell.out, field);
    fprintf(cell.out, "%s%s", (has_range || has_length) && hint[0] != '\0' ? ", " : "", hint);
    cell_end(&cell, table);
}

/* --- rows ------------------------------------------------------------------------------------- */

static void struct_add(struct ops_table *table, const char *path, const culex_struct_type *type);

/* A row, and those of the struct that it is; of a list those of any element. */
static void field_add(struct ops_table *table, const char *path, const culex_field *field)
{
    char type[OPS_TYPE_SIZE];
    ops_table_text(table, path);
    ops_table_text(table, ops_type_format(field, type));
    wanted_add(table, field);
    values_add(table, field);
    ops_table_text(table, field->doc != NULL ? field->doc : "");
    if (field->kind != CULEX_KIND_STRUCT)
        return;
    size_t size = strlen(path) + sizeof "[]";
    char *inner = ops_alloc(NULL, size);
    snprintf(inner, size, "%s%s", path, field->shape == CULEX_SHAPE_SINGLE ? "" : "[]");
    struct_add(table, inner, field->struct_type);
    free(inner);
}

static void struct_add(struct ops_table *table, const char *path, const culex_struct_type *type)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const culex_field *field = &type->fields[i];
        size_t size = strlen(path) + strlen(field->name) + sizeof ".";
        char *name = ops_alloc(NULL, size);
        snprintf(name, size, "%s%s%s", path, path[0] != '\0' ? "." : "", field->name);
        field_add(table, name, field);
        free(name);
    }
}

static void type_print(const char *what, const culex_struct_type *type)
{
    const char *const heads[] = {what, "TYPE", "~WANTED", "~?VALUES", "~?MEANS", NULL};
    struct ops_table table;
    if (type == NULL || type->field_count == 0)
        return;
    ops_table_begin(&table, heads);
    struct_add(&table, "", type);
    putchar('\n');
    ops_table_print(&table, stdout);
    ops_table_end(&table);
}

/* --- values of enums ---------------------------------------------------------------------------
 */

/* Each once, and only where they say what they mean. */
static bool enum_is_told(const culex_enum_type *type)
{
    bool is_told = false;
    for (size_t i = 0; i < type->value_count; i++)
        is_told |= type->values[i].doc != NULL;
    return is_told;
}

struct seen {
    const culex_enum_type **of; /* owned */
    size_t count;
};

static void enums_see(struct seen *seen, const culex_struct_type *type)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const culex_enum_type *found = type->fields[i].enum_type;
        size_t at = 0;
        if (type->fields[i].struct_type != NULL)
            enums_see(seen, type->fields[i].struct_type);
        while (found != NULL && at < seen->count && seen->of[at] != found)
            at++;
        if (found == NULL || at < seen->count || !enum_is_told(found))
            continue;
        seen->of = ops_alloc(seen->of, (seen->count + 1) * sizeof *seen->of);
        seen->of[seen->count++] = found;
    }
}

static void enums_print(const culex_struct_type *type)
{
    static const char *const heads[] = {"VALUE", "OF", "~MEANS", NULL};
    struct seen seen = {.of = NULL};
    struct ops_table table;
    enums_see(&seen, type);
    ops_table_begin(&table, heads);
    for (size_t i = 0; i < seen.count; i++) {
        for (size_t j = 0; j < seen.of[i]->value_count; j++) {
            const culex_enum_value *value = &seen.of[i]->values[j];
            ops_table_text(&table, value->name);
            ops_table_text(&table, seen.of[i]->name);
            ops_table_text(&table, value->doc != NULL ? value->doc : "");
        }
    }
    if (seen.count > 0) {
        putchar('\n');
        ops_table_print(&table, stdout);
    }
    ops_table_end(&table);
    free(seen.of);
}

/* --- all of it -------------------------------------------------------------------------------- */

static void text_print(const char *name, const char *text)
{
    printf("%-12s", name);
    ops_print_text(stdout, text, strlen(text), true, 12);
    putchar('\n');
}

static void schema_print(const struct ops_schema *schema)
{
    const culex_job_type *type = schema->type;
    text_print("job", type->name);
    if (strcmp(type->name, type->wire) != 0)
        text_print("in store", type->wire);
    if (schema->queue[0] != '\0')
        text_print("queue", schema->queue);
    printf("schema      %016" PRIx64 "\n", type->fingerprint);
    if (type->doc != NULL)
        text_print("means", type->doc);
    if (culex_schema_is_retired(schema->schema))
        text_print("retired", "its workers end each run of it dead");
    if (schema->note[0] != '\0')
        text_print("note", schema->note);
    if (type->params->field_count == 0)
        puts("params      (none)");
    type_print("PARAM", type->params);
    type_print("RESULT", type->result);
    enums_print(type->params);
}

/* As the store has it: what --schema takes. */
static culex_status schema_json(struct ops *ops, const struct ops_schema *schema,
                                culex_error *error)
{
    struct ops_json json = {.out = stdout};
    char *text = NULL;
    size_t len = 0;
    if (ops->options.schema != NULL)
        return ops_usage(error, "--json: the text is that of the file of --schema");
    culex_status status =
        culex_client_schema_text(ops->client, schema->queue, schema->type->wire,
                                 schema->type->fingerprint, schema->digest, &text, &len, error);
    if (status == CULEX_OK) {
        ops_json_value(&json, NULL, text, len);
        ops_json_line_end(&json);
    }
    free(text);
    return status;
}

culex_status ops_schema(struct ops *ops, culex_error *error)
{
    struct ops_schema schema;
    culex_status status = ops_schema_of_job(ops, ops->arguments[0], &schema, error);
    if (status == CULEX_OK && ops->options.wants_json)
        status = schema_json(ops, &schema, error);
    else if (status == CULEX_OK)
        schema_print(&schema);
    ops_schema_release(&schema);
    return status;
}
