/* check_attr.c - attributes: which may stand where, with which arguments, and what they do. */
#include "checker.h"

#include <string.h>

#include "limits.h"
#include "suggest.h"

/* What an attribute may stand on. */
enum {
    ON_FIELD = 1,
    ON_PARAM = 2,
    ON_JOB = 4,
    ON_ENUM = 8,
    ON_VALUE = 16,
    ON_STRUCT = 32,
    ON_RESULT = 64
};

enum attr_args { ARGS_NONE, ARGS_TEXT, ARGS_TEXTS, ARGS_ALLOW, ARGS_LEN, ARGS_LIMIT, ARGS_VALUE };

static const struct attr_rule {
    const char *name;
    unsigned places;
    enum attr_args args;
} rules[] = {
    {"was", ON_FIELD | ON_PARAM | ON_JOB, ARGS_TEXTS},
    {"retired", ON_JOB, ARGS_NONE},
    {"deprecated", ON_FIELD | ON_PARAM | ON_JOB | ON_VALUE, ARGS_TEXT},
    {"secret", ON_FIELD | ON_PARAM, ARGS_NONE},
    {"encrypted", ON_PARAM | ON_RESULT, ARGS_NONE},
    {"must_understand", ON_PARAM, ARGS_NONE},
    {"nonempty", ON_FIELD | ON_PARAM, ARGS_NONE},
    {"min_len", ON_FIELD | ON_PARAM, ARGS_LEN},
    {"max_len", ON_FIELD | ON_PARAM, ARGS_LIMIT},
    {"len", ON_FIELD | ON_PARAM, ARGS_LIMIT},
    {"min", ON_FIELD | ON_PARAM, ARGS_VALUE},
    {"max", ON_FIELD | ON_PARAM, ARGS_VALUE},
    {"closed", ON_ENUM, ARGS_NONE},
    {"allow_breaking", ON_FIELD | ON_PARAM | ON_JOB | ON_ENUM | ON_VALUE | ON_STRUCT, ARGS_ALLOW},
};
enum { RULE_COUNT = sizeof(rules) / sizeof(rules[0]) };

static bool is_free(const struct ast_attr *attr)
{
    return strncmp(attr->name.text, "x_", 2) == 0;
}

static bool is_allow(const struct ast_attr *attr)
{
    return strcmp(attr->name.text, "allow_breaking") == 0;
}

/* By this text an attribute may stand once in a list: its name, and of allow_breaking the rule
 * too. */
static const char *identity_of(struct arena *arena, const struct ast_attr *attr)
{
    if (!is_allow(attr) || attr->args == NULL || attr->args->kind != LITERAL_STRING)
        return attr->name.text;
    return arena_join(arena, (const char *const[]){attr->name.text, " ", attr->args->text, NULL});
}

/* Where an attribute stood last; `list` is whose. */
struct attr_place {
    const struct ast_attr *list, *attr;
};

/* The one before `attr` in the list that says the same, or NULL. One map serves all lists, since
 * most of them are short. */
static const struct ast_attr *attr_earlier(struct checker *checker, const struct ast_attr *list,
                                           const struct ast_attr *attr)
{
    const char *identity = identity_of(checker->arena, attr);
    struct attr_place *place = map_get(&checker->attrs, identity);
    if (place == NULL) {
        place = arena_alloc(checker->arena, sizeof(*place));
        map_add(&checker->attrs, identity, place);
    }
    if (place->list == list)
        return place->attr != attr ? place->attr : NULL;
    *place = (struct attr_place){list, attr};
    return NULL;
}

static const struct attr_rule *rule_find(struct checker *checker, const struct ast_attr *attr,
                                         unsigned place)
{
    for (size_t i = 0; i < RULE_COUNT; i++) {
        if (strcmp(rules[i].name, attr->name.text) == 0)
            return &rules[i];
    }
    struct suggestion suggestion = suggestion_start(attr->name.text);
    suggestion.is_doubtful = true; /* Another attribute means something else. */
    for (size_t i = 0; i < RULE_COUNT; i++) {
        if ((rules[i].places & place) != 0)
            suggestion_offer(&suggestion, rules[i].name);
    }
    diag_report(checker->sink, DIAG_UNKNOWN_ATTRIBUTE, attr->name.span, "unknown attribute '%.64s'",
                attr->name.text);
    struct habit habit;
    if (habit_word(HABIT_WORD_ATTR, attr->name.text, &habit))
        habit_help(checker->sink, &habit, attr->name.span);
    else if (suggestion.best != NULL)
        diag_suggest(checker->sink, attr->name.span, &suggestion);
    else
        diag_help(checker->sink, "attributes of your own start with x_");
    return NULL;
}

static bool refuse_args(struct checker *checker, const struct ast_attr *attr, const char *wanted)
{
    diag_report(checker->sink, DIAG_ATTRIBUTE_ARGUMENT, attr->name.span, "attribute '%s' takes %s",
                attr->name.text, wanted);
    return false;
}

static bool are_texts(const struct literal *args)
{
    while (args != NULL && (args->kind == LITERAL_STRING || args->kind == LITERAL_POISON))
        args = args->next;
    return args == NULL;
}

/* An id that culexc breaking has, and why the change is meant. */
static bool check_allow(struct checker *checker, const struct ast_attr *attr)
{
    static const char *const ids[] = {
#define BREAKING(symbol, slug, category, severity, explanation) slug,
#include "breaking_ids.def"
#undef BREAKING
    };
    const struct literal *id = attr->args;
    if (id == NULL || id->next == NULL || id->next->next != NULL || !are_texts(id) ||
        id->next->len == 0)
        return refuse_args(checker, attr, "the id of a rule and a reason");
    if (id->kind != LITERAL_STRING)
        return false;
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        if (strcmp(ids[i], id->text) == 0)
            return true;
    }
    struct suggestion suggestion = suggestion_start(id->text);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        suggestion_offer(&suggestion, ids[i]);
    diag_report(checker->sink, DIAG_UNKNOWN_WORD, id->span, "no rule of 'breaking' is '%.64s'",
                id->text);
    if (suggestion.best != NULL) /* no fix: the span has the quotes */
        diag_help(checker->sink, "did you mean '%s'?", suggestion.best);
    return false;
}

static bool is_len(const struct literal *args, int64_t min)
{
    int64_t value = -1;
    return args != NULL && args->next == NULL && args->kind == LITERAL_INT &&
           wide_to_int64(args->integer, &value) && value >= min && value <= LIMIT_LEN;
}

/* 0 is "no limit" to some and "always empty" to others, and to the descriptor the former. */
static bool check_limit(struct checker *checker, const struct ast_attr *attr)
{
    if (is_len(attr->args, 1))
        return true;
    refuse_args(checker, attr, "a length of 1 byte to 64 MiB");
    if (is_len(attr->args, 0))
        diag_help(checker->sink, "for no limit leave '%s' out; what is always empty tells nothing",
                  attr->name.text);
    return false;
}

static bool check_args(struct checker *checker, const struct ast_attr *attr, enum attr_args args)
{
    unsigned count = 0;
    for (const struct literal *arg = attr->args; arg != NULL; arg = arg->next)
        count++;
    switch (args) {
    case ARGS_NONE:
        return count == 0 || refuse_args(checker, attr, "no argument");
    case ARGS_TEXT:
        return (count <= 1 && are_texts(attr->args)) || refuse_args(checker, attr, "one string");
    case ARGS_TEXTS:
        return (count >= 1 && count <= LIMIT_WAS && are_texts(attr->args)) ||
               refuse_args(checker, attr, "the former names as strings, the oldest first");
    case ARGS_ALLOW:
        return check_allow(checker, attr);
    case ARGS_LEN:
        return is_len(attr->args, 0) || refuse_args(checker, attr, "a length of at most 64 MiB");
    case ARGS_LIMIT:
        return check_limit(checker, attr);
    case ARGS_VALUE:
        break;
    }
    return count == 1 || refuse_args(checker, attr, "one value");
}

/* One attribute by the table: known, in its place, once, with the right arguments. */
static bool check_attr(struct checker *checker, const struct ast_attr *first,
                       const struct ast_attr *attr, unsigned place)
{
    const struct attr_rule *rule = is_free(attr) ? NULL : rule_find(checker, attr, place);
    const struct ast_attr *earlier = attr_earlier(checker, first, attr);
    if (earlier != NULL) {
        diag_report(checker->sink, DIAG_DUPLICATE_ATTRIBUTE, attr->name.span,
                    "attribute '%.64s' is given twice", attr->name.text);
        diag_note(checker->sink, earlier->name.span, "first given here");
        struct span span = attr->name.span;
        if (attr->args == NULL && span_add_comma(&span))
            diag_fix(checker->sink, rule != NULL ? FIX_MACHINE_APPLICABLE : FIX_MAYBE_INCORRECT,
                     span, "%s", "");
        return false;
    }
    if (rule == NULL)
        return false;
    if ((rule->places & place) == 0) {
        diag_report(checker->sink, DIAG_ATTRIBUTE_MISPLACED, attr->name.span,
                    "attribute '%s' does not belong here", attr->name.text);
        return false;
    }
    return check_args(checker, attr, rule->args);
}

const struct literal *attr_was(const struct ast_attr *attrs)
{
    const struct ast_attr *was = ast_attr_find(attrs, "was");
    return was != NULL && was->args != NULL && was->args->kind == LITERAL_STRING ? was->args : NULL;
}

static bool is_among(const struct literal *first, const struct literal *arg)
{
    while (first != arg && strcmp(first->text, arg->text) != 0)
        first = first->next;
    return first != arg;
}

/* The present name may be among several former ones, when it came back. */
static void check_was_sense(struct checker *checker, const struct ast_attr *attr, const char *name)
{
    bool is_alone = attr->args->next == NULL;
    for (const struct literal *arg = attr->args; arg != NULL; arg = arg->next) {
        if (arg->kind != LITERAL_STRING)
            return;
        if ((is_alone && strcmp(arg->text, name) == 0) || is_among(attr->args, arg))
            diag_report(checker->sink, DIAG_WAS_ITSELF, arg->span, "'%s' %s", arg->text,
                        is_alone ? "is its present name" : "is named twice");
    }
}

void check_old_name(struct checker *checker, const struct literal *name, const char *kind)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t len = name->len;
    if (name->kind != LITERAL_STRING ||
        (len > 0 && len <= LIMIT_NAME_BYTES && strspn(name->text, allowed) == len &&
         strchr("0123456789", name->text[0]) == NULL))
        return;
    diag_report(checker->sink, DIAG_BAD_NAME, name->span,
                "%s name is 1 to 64 letters, digits and '_', and no digit first", kind);
}

static void check_was(struct checker *checker, const struct ast_attr *attr, const char *name)
{
    check_was_sense(checker, attr, name);
    for (const struct literal *arg = attr->args; arg != NULL; arg = arg->next)
        check_old_name(checker, arg, "a former");
}

static const char *deprecation(const struct ast_attr *attr)
{
    return attr->args != NULL && attr->args->kind == LITERAL_STRING ? attr->args->text : "";
}

static void conflict(struct checker *checker, const struct ast_attr *attr)
{
    diag_report(checker->sink, DIAG_ATTRIBUTE_CONFLICT, attr->name.span,
                "'%s' contradicts another attribute of this param", attr->name.text);
}

static void apply_len(struct checker *checker, struct ir_field *field, const struct ast_attr *attr)
{
    bool is_nonempty = strcmp(attr->name.text, "nonempty") == 0;
    bool is_exact = strcmp(attr->name.text, "len") == 0;
    int64_t len = is_nonempty ? 1 : (int64_t)attr->args->integer.lo;
    if (field->kind != IR_STRING && field->kind != IR_BYTES) {
        diag_report(checker->sink, DIAG_ATTRIBUTE_MISPLACED, attr->name.span,
                    "attribute '%s' is for string and bytes", attr->name.text);
        if (field->shape == SHAPE_LIST)
            diag_help(checker->sink, "bound the list itself by [<=N]");
        return;
    }
    if (is_nonempty && field->min_len >= 1)
        return;
    if (is_exact || is_nonempty || strcmp(attr->name.text, "min_len") == 0) {
        if (field->min_len >= 0 && field->min_len != len && !(field->min_len == 1 && len > 1))
            conflict(checker, attr);
        field->min_len = len;
    }
    if (is_exact || strcmp(attr->name.text, "max_len") == 0) {
        if (field->max_len >= 0 && field->max_len != len)
            conflict(checker, attr);
        field->max_len = len;
    }
}

static void apply_bound(struct checker *checker, struct ir_field *field,
                        const struct ast_attr *attr, struct ir_value *bound)
{
    if (ir_kind_has_bounds(field->kind)) {
        *bound = check_value(checker, field, attr->args);
        return;
    }
    diag_report(checker->sink, DIAG_ATTRIBUTE_MISPLACED, attr->name.span,
                "attribute '%s' is for integers of up to 64 bits, timestamps and durations",
                attr->name.text);
    if (field->kind != IR_STRING && field->kind != IR_BYTES)
        return;
    diag_help(checker->sink, "the length of a text, in bytes, is '%s_len'", attr->name.text);
    diag_fix(checker->sink, FIX_MAYBE_INCORRECT, attr->name.span, "%s_len", attr->name.text);
}

static void apply_field_attr(struct checker *checker, struct ir_field *field,
                             const struct ast_attr *attr)
{
    const char *name = attr->name.text;
    if (strcmp(name, "secret") == 0)
        field->is_secret = true;
    else if (strcmp(name, "encrypted") == 0)
        field->is_encrypted = field->is_secret = true;
    else if (strcmp(name, "must_understand") == 0)
        field->must_understand = true;
    else if (strcmp(name, "deprecated") == 0)
        field->deprecated = deprecation(attr);
    else if (strcmp(name, "was") == 0)
        check_was(checker, attr, field->name);
    else if (is_allow(attr))
        return;
    else if (strcmp(name, "min") == 0)
        apply_bound(checker, field, attr, &field->min);
    else if (strcmp(name, "max") == 0)
        apply_bound(checker, field, attr, &field->max);
    else
        apply_len(checker, field, attr);
}

void check_field_attrs(struct checker *checker, struct ir_field *field, enum field_home home)
{
    static const unsigned places[] = {[HOME_STRUCT] = ON_FIELD,
                                      [HOME_PARAMS] = ON_PARAM,
                                      [HOME_RETURNS] = ON_FIELD | ON_RESULT,
                                      [HOME_METADATA] = ON_FIELD};
    unsigned place = places[home];
    for (const struct ast_attr *attr = field->attrs; attr != NULL; attr = attr->next) {
        if (check_attr(checker, field->attrs, attr, place))
            apply_field_attr(checker, field, attr);
    }
    bool is_empty = field->max_len >= 0 && field->min_len > field->max_len;
    if (field->min.kind != VALUE_NONE && field->max.kind != VALUE_NONE)
        is_empty |= value_compare(&field->min, &field->max) > 0;
    if (is_empty && field->attrs != NULL)
        diag_report(checker->sink, DIAG_ATTRIBUTE_CONFLICT, field->attrs->name.span,
                    "no value of '%s' can satisfy its limits", field->name);
}

void check_job_attrs(struct checker *checker, struct ir_job *job)
{
    for (const struct ast_attr *attr = job->attrs; attr != NULL; attr = attr->next) {
        if (!check_attr(checker, job->attrs, attr, ON_JOB))
            continue;
        if (strcmp(attr->name.text, "was") == 0)
            check_was(checker, attr, job->name);
        else if (strcmp(attr->name.text, "retired") == 0)
            job->is_retired = true;
        else if (!is_allow(attr))
            job->deprecated = deprecation(attr);
    }
}

void check_enum_attrs(struct checker *checker, struct ir_enum *type)
{
    for (const struct ast_attr *attr = type->attrs; attr != NULL; attr = attr->next)
        type->is_closed |= check_attr(checker, type->attrs, attr, ON_ENUM) && !is_allow(attr);
}

void check_struct_attrs(struct checker *checker, const struct ast_attr *attrs)
{
    for (const struct ast_attr *attr = attrs; attr != NULL; attr = attr->next)
        check_attr(checker, attrs, attr, ON_STRUCT);
}

void check_enum_value_attrs(struct checker *checker, struct ir_enum_value *value)
{
    for (const struct ast_attr *attr = value->attrs; attr != NULL; attr = attr->next) {
        if (check_attr(checker, value->attrs, attr, ON_VALUE) && !is_allow(attr))
            value->deprecated = deprecation(attr);
    }
}
