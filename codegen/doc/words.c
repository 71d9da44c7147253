#include "words.h"

#include <assert.h>
#include <string.h>

#include "cname.h"

enum {
    DELAYS_SHOWN = 6,
    PARAMETERS_MAX = 8, /* of a generated function */
    CODE_WIDTH = 78,
    CODE_INDENT = 8 /* of the further lines of a prototype */
};

const char *words_duration(struct arena *arena, double seconds)
{
    static const struct {
        const char *word;
        int64_t ms;
    } units[] = {{"w", 604800000}, {"d", 86400000}, {"h", 3600000},
                 {"m", 60000},     {"s", 1000},     {"ms", 1}};
    struct buf text = {0};
    if (seconds > 9e9)
        return "more than 285 years";
    int64_t left = (int64_t)(seconds * 1e3 + 0.5);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (left >= units[i].ms)
            buf_printf(&text, "%lld%s", (long long)(left / units[i].ms), units[i].word);
        left %= units[i].ms;
    }
    const char *copy = text.len == 0 ? "0s" : arena_copy(arena, text.data, text.len);
    buf_release(&text);
    return copy;
}

static void jitter_write(const struct ir_retry *retry, struct buf *out)
{
    if (retry->jitter == JITTER_FULL)
        buf_text(out, " Each delay is random, at most that long.");
    else if (retry->jitter == JITTER_EQUAL)
        buf_text(out, " Each delay is random, from half of that to all of it.");
    else if (retry->jitter == JITTER_RATIO)
        buf_printf(out, " Each delay is random, by up to %s times itself to either side.",
                   retry->jitter_ratio);
}

/* The first delays, and the last one when others were left out. */
static void delays_write(struct arena *arena, const struct ir_retry *retry, int64_t count,
                         struct buf *out)
{
    const struct literal *step = retry->steps;
    double total = 0;
    assert(count > 0);
    for (int64_t n = 1; n <= count; n++) {
        double delay = ir_retry_delay(retry, n, &step);
        bool is_last = n == count;
        total += delay;
        if (n == DELAYS_SHOWN && !is_last)
            buf_text(out, ", ...");
        if (n < DELAYS_SHOWN || is_last)
            buf_printf(out, "%s%s",
                       n == 1    ? ""
                       : is_last ? " and "
                                 : ", ",
                       words_duration(arena, delay));
    }
    buf_printf(out, " (%s); dead after %s", ir_backoff_words[retry->backoff],
               words_duration(arena, total));
}

const char *words_retry(struct arena *arena, const struct ir_retry *retry)
{
    struct buf text = {0};
    int64_t count = ir_retry_count(retry);
    if (count == 0)
        return "none: dead after the first failure.";
    buf_printf(&text, "%lld time%s, ", (long long)count, count == 1 ? "" : "s");
    if (retry->for_ns >= 0)
        buf_printf(&text, "never %s or more after the first failure, ",
                   words_duration(arena, (double)retry->for_ns / 1e9));
    buf_text(&text, "after ");
    delays_write(arena, retry, count, &text);
    buf_text(&text, " and the time of the attempts.");
    jitter_write(retry, &text);
    const char *copy = arena_copy(arena, text.data, text.len);
    buf_release(&text);
    return copy;
}

static const char *c_type(const struct ir_field *field)
{
    static const char *const types[IR_KIND_COUNT] = {[IR_BOOL] = "bool ",
                                                     [IR_CHAR] = "char ",
                                                     [IR_INT8] = "int8_t ",
                                                     [IR_INT16] = "int16_t ",
                                                     [IR_INT32] = "int32_t ",
                                                     [IR_INT64] = "int64_t ",
                                                     [IR_INT128] = "culex_int128 ",
                                                     [IR_UINT8] = "uint8_t ",
                                                     [IR_UINT16] = "uint16_t ",
                                                     [IR_UINT32] = "uint32_t ",
                                                     [IR_UINT64] = "uint64_t ",
                                                     [IR_UINT128] = "culex_uint128 ",
                                                     [IR_FLOAT32] = "float ",
                                                     [IR_FLOAT64] = "double ",
                                                     [IR_STRING] = "const char *",
                                                     [IR_BYTES] = "culex_bytes ",
                                                     [IR_UUID] = "culex_uuid ",
                                                     [IR_TIMESTAMP] = "culex_time ",
                                                     [IR_DURATION] = "culex_duration "};
    return types[field->kind];
}

/* Of one value, ready to stand before a name. */
static const char *type_of(struct arena *arena, const struct ir_field *field)
{
    const char *type = c_type(field);
    if (type != NULL)
        return type;
    assert(field->structure != NULL || field->enumeration != NULL || field->user != NULL);
    return arena_printf(arena, "%s ",
                        field->structure != NULL ? field->structure->c
                        : field->user != NULL    ? field->user->c
                                                 : field->enumeration->c);
}

static const char *argument(struct arena *arena, const struct ir_field *field)
{
    const char *type = type_of(arena, field);
    if (field->shape != SHAPE_ARRAY)
        return arena_printf(arena, "%s%s", type, field->c);
    return arena_printf(arena, field->kind == IR_STRING ? "%sconst %s[%lld]" : "const %s%s[%lld]",
                        type, field->c, (long long)field->count);
}

/* `arguments` end with a NULL. */
static void prototype(struct buf *out, const char *head, const char *const *arguments)
{
    size_t column = strlen(head) + 1;
    buf_printf(out, "%s(", head);
    for (size_t i = 0; arguments[i] != NULL; i++) {
        size_t len = strlen(arguments[i]) + 2; /* with ", " or ");" */
        if (column + len > CODE_WIDTH) {
            buf_text(out, i > 0 ? ",\n        " : "\n        ");
            column = CODE_INDENT;
        } else if (i > 0) {
            buf_text(out, ", ");
        }
        buf_text(out, arguments[i]);
        column += len;
    }
    buf_text(out, ");\n");
}

static void make_write(struct arena *arena, const struct ir_job *job, struct buf *out)
{
    size_t count = 0;
    for (const struct ir_field *field = job->params; field != NULL; field = field->next)
        count += field->is_required;
    const char **arguments = arena_alloc(arena, (count + 2) * sizeof(*arguments));
    arguments[0] = "void";
    count = 0;
    for (const struct ir_field *field = job->params; field != NULL; field = field->next) {
        if (field->is_required)
            arguments[count++] = argument(arena, field);
    }
    prototype(out, arena_printf(arena, "%s %s", job->c, job->functions.make), arguments);
}

/* "const T *x" and "size_t x_len", or one value; at most two, behind `arguments`. */
static void set_arguments(struct arena *arena, const struct ir_field *field, const char **arguments)
{
    const char *type = type_of(arena, field);
    if (field->shape != SHAPE_LIST) {
        arguments[0] = argument(arena, field);
        return;
    }
    arguments[0] = arena_printf(arena, field->kind == IR_STRING ? "%sconst *%s" : "const %s*%s",
                                type, field->c);
    arguments[1] = arena_printf(arena, "size_t %s", field->len_c);
}

static void sets_write(struct arena *arena, const char *c, const struct ir_field *fields,
                       struct buf *out)
{
    for (; fields != NULL; fields = fields->next) {
        const char *arguments[4] = {arena_printf(arena, "%s *to", c)};
        if (fields->set_c == NULL)
            continue;
        set_arguments(arena, fields, arguments + 1);
        prototype(out, arena_printf(arena, "void %s", fields->set_c), arguments);
    }
}

/* The job's own type that a word of cnames.def stands for, or NULL. */
static const char *type_named(const struct ir_job *job, const char *word, size_t len)
{
    const struct {
        const char *word, *c;
    } types[] = {{"JOB", job->c},
                 {"RESULT", job->result_c},
                 {"METADATA", job->metadata_c},
                 {"HANDLER", job->functions.handler}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strlen(types[i].word) == len && memcmp(types[i].word, word, len) == 0)
            return types[i].c;
    }
    return NULL;
}

/* One of a list of parameters, with the job's own types in it. */
static const char *parameter(struct arena *arena, const struct ir_job *job, const char *text,
                             size_t len)
{
    static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t start = strcspn(text, capitals);
    size_t size = start < len ? strspn(text + start, capitals) : 0;
    const char *type = type_named(job, text + start, size);
    if (type == NULL)
        return arena_copy(arena, text, len);
    return arena_printf(arena, "%.*s%s%.*s", (int)start, text, type, (int)(len - start - size),
                        text + start + size);
}

static void function_write(struct arena *arena, const struct ir_job *job,
                           const struct cname_row *row, struct buf *out)
{
    const char *arguments[PARAMETERS_MAX + 1] = {NULL};
    const char *name;
    size_t count = 0;
    memcpy(&name, (const char *)job + row->offset, sizeof(name));
    for (const char *at = row->parameters; *at != '\0';) {
        assert(count < PARAMETERS_MAX);
        size_t len = strcspn(at, ",");
        arguments[count++] = parameter(arena, job, at, len);
        at += len + strspn(at + len, ", ");
    }
    prototype(out, arena_printf(arena, "culex_status %s", name), arguments);
}

static void item_write(struct arena *arena, const struct ir_job *job, struct buf *out)
{
    prototype(out, arena_printf(arena, "culex_enqueue_item %s", job->functions.enqueue_item),
              (const char *const[]){arena_printf(arena, "const %s *job", job->c),
                                    "const culex_enqueue_options *options", NULL});
}

void words_prototypes(struct arena *arena, const struct ir_job *job, struct buf *out)
{
    buf_char(out, '\n');
    make_write(arena, job, out);
    sets_write(arena, job->c, job->params, out);
    prototype(out, arena_printf(arena, "typedef culex_outcome (*%s)", job->functions.handler),
              (const char *const[]){"culex_run *run", arena_printf(arena, "const %s *job", job->c),
                                    "void *user", NULL});
    item_write(arena, job, out);
    for (const struct cname_row *row = cname_rows; row->suffix != NULL; row++) {
        if (row->parameters != NULL && cname_is_made(row, job->decl))
            function_write(arena, job, row, out);
    }
}

void words_chain(struct arena *arena, const struct ir_chain *chain, struct buf *out)
{
    buf_char(out, '\n');
    prototype(out, arena_printf(arena, "culex_status %s", chain->enqueue),
              (const char *const[]){"culex_client *client",
                                    arena_printf(arena, "const %s *job", chain->steps->job->c),
                                    "const culex_enqueue_options *options", "culex_uuid *ret_id",
                                    "culex_error *error", NULL});
    prototype(out, arena_printf(arena, "culex_status %s", chain->register_),
              (const char *const[]){"culex_worker *worker", NULL});
}
