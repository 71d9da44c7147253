/* check_limit.c - what counts runs by their params: unique, concurrency, rate, fair. */
#include "checker.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "fnv.h"
#include "limits.h"
#include "suggest.h"

/* ---- the params of a key ---- */

static void params_find(const struct ir_job *job, struct map *params)
{
    for (struct ir_field *field = job->params; field != NULL; field = field->next)
        map_add(params, field->name, field);
}

static void check_names_once(struct diag_sink *sink, const struct ast_names *names)
{
    struct arena scratch = {0};
    struct map seen;
    map_init(&seen, &scratch);
    for (const struct ast_names *name = names; name != NULL; name = name->next) {
        struct span span = name->name.span;
        if (map_add(&seen, name->name.text, &seen) == NULL)
            continue;
        diag_report(sink, DIAG_DUPLICATE_NAME, span, "'%.64s' is named twice", name->name.text);
        if (span_add_comma(&span))
            diag_fix(sink, FIX_MAYBE_INCORRECT, span, "%s", "");
    }
    arena_release(&scratch);
}

static const char *key_fault(const struct ir_field *field)
{
    if (field->is_optional)
        return "is optional";
    if (field->shape != SHAPE_SINGLE)
        return "is a list";
    if (field->is_secret)
        return field->is_encrypted ? "is encrypted" : "is secret";
    if (field->kind == IR_STRUCT)
        return "is a struct";
    return field->kind == IR_FLOAT32 || field->kind == IR_FLOAT64 ? "is a float" : NULL;
}

static void report_unknown_param(struct setting_check *check, const struct ast_name *name)
{
    struct diag_sink *sink = check->checker->sink;
    diag_report(sink, DIAG_UNKNOWN_PARAM, name->span, "this job has no param '%.64s'", name->text);
    if (sink->current ==
        NULL) /* Suggesting looks at all params, so only for a report that is shown. */
        return;
    struct suggestion suggestion = suggestion_start(name->text);
    suggestion.is_doubtful = true;
    for (const struct ir_field *at = check->job->params; at != NULL; at = at->next)
        suggestion_offer(&suggestion, at->name);
    diag_suggest(sink, name->span, &suggestion);
}

static void check_key(struct setting_check *check, const struct ast_name *name,
                      const struct ir_field *field)
{
    struct diag_sink *sink = check->checker->sink;
    const char *fault = field == NULL ? NULL : key_fault(field);
    if (fault != NULL) {
        diag_report(sink, DIAG_BAD_KEY, name->span, "'%s' %s, so it cannot be a key", field->name,
                    fault);
        diag_note(sink, field->span, "declared here");
    }
    if (field == NULL && !check->checker->module->ast->has_errors)
        report_unknown_param(check, name);
}

static int key_compare(const void *left, const void *right)
{
    const struct ir_field *const *a = left, *const *b = right;
    return strcmp((*a)->wire, (*b)->wire);
}

/* The key of these params, each once, in the order of their names in the store: however a schema
 * lists them, in whatever version, the key is the same. */
static const struct ast_names *key_make(struct arena *arena, const struct ir_field **params,
                                        size_t count)
{
    const struct ast_names *key = NULL;
    qsort(params, count, sizeof(const struct ir_field *), key_compare);
    while (count-- > 0) {
        if (key != NULL && strcmp(key->name.text, params[count]->name) == 0)
            continue;
        struct ast_names *made = arena_alloc(arena, sizeof(*made));
        made->name = (struct ast_name){.text = params[count]->name};
        made->next = (struct ast_names *)key;
        key = made;
    }
    return key;
}

/* The key that `by` names, without what was reported. */
static const struct ast_names *check_by(struct setting_check *check, const struct ast_names *by)
{
    struct arena scratch = {0};
    struct map params;
    size_t count = 0, room = 0;
    assert(check->job != NULL);
    if (by == NULL)
        return NULL;
    map_init(&params, &scratch);
    params_find(check->job, &params);
    check_names_once(check->checker->sink, by);
    for (const struct ast_names *at = by; at != NULL; at = at->next)
        room++;
    const struct ir_field **found = arena_alloc(&scratch, room * sizeof(const struct ir_field *));
    for (; by != NULL; by = by->next) {
        const struct ir_field *field = map_get(&params, by->name.text);
        check_key(check, &by->name, field);
        if (field != NULL)
            found[count++] = field;
    }
    const struct ast_names *key = key_make(check->checker->arena, found, count);
    arena_release(&scratch);
    return key;
}

static void report_secret_in_all(struct diag_sink *sink, const struct ast_name *all,
                                 const struct ir_field *field)
{
    diag_report(sink, DIAG_BAD_KEY, all->span, "'%s' is %s, so it cannot be in a key", field->name,
                field->is_encrypted ? "encrypted" : "secret");
    diag_note(sink, field->span, "declared here");
    diag_help(sink, "name the params that tell runs apart: unique by (...)");
}

/* Any value has its text, so all but a secret may be in a key of all params: it is only ever
 * compared, as a whole. */
static const struct ast_names *check_by_all(struct setting_check *check, const struct ast_name *all)
{
    struct arena scratch = {0};
    size_t count = 0, room = 1;
    for (const struct ir_field *field = check->job->params; field != NULL; field = field->next)
        room++;
    const struct ir_field **found = arena_alloc(&scratch, room * sizeof(const struct ir_field *));
    for (const struct ir_field *field = check->job->params; field != NULL; field = field->next) {
        if (field->is_secret)
            report_secret_in_all(check->checker->sink, all, field);
        found[count++] = field;
    }
    const struct ast_names *key = key_make(check->checker->arena, found, count);
    arena_release(&scratch);
    return key;
}

/* ---- unique ---- */

/* The states of a unique run that can keep others out. */
static const char *const states[] = {"scheduled", "waiting", "active"};
enum { STATE_COUNT = sizeof(states) / sizeof(states[0]) };

static const struct ast_names *states_all(struct arena *arena)
{
    struct ast_names *names = arena_alloc(arena, STATE_COUNT * sizeof(*names));
    for (size_t i = 0; i < STATE_COUNT; i++) {
        names[i].name.text = states[i];
        names[i].next = i + 1 < STATE_COUNT ? &names[i + 1] : NULL;
    }
    return names;
}

static void check_state(struct checker *checker, const struct ast_name *name)
{
    struct suggestion suggestion = suggestion_start(name->text);
    for (size_t i = 0; i < STATE_COUNT; i++) {
        if (strcmp(states[i], name->text) == 0)
            return;
        suggestion_offer(&suggestion, states[i]);
    }
    diag_report(checker->sink, DIAG_UNKNOWN_WORD, name->span,
                "'%.64s' is not scheduled, waiting or active", name->text);
    diag_suggest(checker->sink, name->span, &suggestion);
}

static void check_states(struct checker *checker, const struct ast_names *named)
{
    check_names_once(checker->sink, named);
    for (; named != NULL; named = named->next)
        check_state(checker, &named->name);
}

static const struct ast_names *state_named(struct arena *arena, const char *state)
{
    struct ast_names *name = arena_alloc(arena, sizeof(*name));
    name->name.text = state;
    return name;
}

static void make_debounce(struct setting_check *check, const struct ast_unique *unique,
                          struct ir_unique *made)
{
    made->states = state_named(check->checker->arena, states[0]);
    made->for_ns = -1;
    made->on_conflict = "replace";
    if (check_setting_duration(check->checker, &unique->debounce, NS_PER_MS))
        made->delay_ns = unique->debounce.duration_ns;
}

static void make_unique(struct setting_check *check, const struct ast_unique *unique,
                        struct ir_unique *made)
{
    bool has_window = unique->time.kind != LITERAL_NONE;
    made->states = unique->states;
    if (unique->states == NULL && !has_window)
        made->states = states_all(check->checker->arena);
    made->for_ns = has_window ? unique->time.duration_ns : -1;
    made->on_conflict = unique->on_conflict.text != NULL ? unique->on_conflict.text : "keep";
    if (has_window)
        check_duration(check->checker, &unique->time, NS_PER_MS, LIMIT_UNIQUE_NS);
    check_states(check->checker, unique->states);
}

void check_unique(struct setting_check *check, const struct ast_setting *setting)
{
    const struct ast_unique *unique = &setting->unique;
    struct ir_unique *made = arena_alloc(check->checker->arena, sizeof(*made));
    made->is_by_all = unique->all.text != NULL;
    made->by = made->is_by_all ? check_by_all(check, &unique->all) : check_by(check, unique->by);
    if (unique->debounce.kind != LITERAL_NONE)
        make_debounce(check, unique, made);
    else
        make_unique(check, unique, made);
    check->settings->unique = made;
}

/* ---- concurrency, rate, fair ---- */

static bool is_same_key(const struct ast_names *a, const struct ast_names *b)
{
    while (a != NULL && b != NULL && strcmp(a->name.text, b->name.text) == 0) {
        a = a->next;
        b = b->next;
    }
    return a == NULL && b == NULL;
}

/* JOB:WORD or JOB:WORD_by_PARAM.PARAM, all as they are called in the store. What is too long ends
 * in a hash of the whole. */
static const char *limit_name(struct setting_check *check, const struct ir_limit *limit)
{
    struct buf name = {0};
    struct arena scratch = {0};
    struct map params;
    map_init(&params, &scratch);
    params_find(check->job, &params);
    buf_printf(&name, "%s:%s", check->job->wire, setting_word(limit->kind));
    for (const struct ast_names *at = limit->by; at != NULL; at = at->next) {
        const struct ir_field *field = map_get(&params, at->name.text);
        buf_printf(&name, "%s%s", at == limit->by ? "_by_" : ".", field->wire);
    }
    arena_release(&scratch);
    if (name.len > LIMIT_LIMIT_NAME) {
        enum { HASH_BYTES = 17 };
        uint64_t hash = fnv_text(FNV_START, name.data);
        name.len = LIMIT_LIMIT_NAME - HASH_BYTES;
        buf_printf(&name, "~%016" PRIx64, hash);
    }
    const char *text = arena_copy(check->checker->arena, name.data, name.len);
    buf_release(&name);
    return text;
}

static void report_same_limit(struct setting_check *check, const struct ir_limit *limit,
                              const struct ir_limit *other)
{
    struct diag_sink *sink = check->checker->sink;
    diag_report(sink, DIAG_DUPLICATE_LIMIT, limit->setting->span,
                limit->by == NULL ? "the job has two '%s' for all its runs"
                                  : "the job has two '%s' by the same params",
                setting_word(limit->kind));
    diag_note(sink, other->setting->span, "the first is here");
}

static void limit_add(struct setting_check *check, struct ir_limit *limit)
{
    struct ir_limit **at = &check->settings->limits;
    unsigned count = 1;
    limit->name = limit_name(check, limit);
    for (; *at != NULL; at = &(*at)->next) {
        if ((*at)->kind == limit->kind && is_same_key((*at)->by, limit->by))
            report_same_limit(check, limit, *at);
        count++;
    }
    if (count == LIMIT_RUN_LIMITS + 1)
        diag_report(check->checker->sink, DIAG_TOO_MANY, limit->setting->span,
                    "more than %u limits of one job", LIMIT_RUN_LIMITS);
    *at = limit;
}

static struct ir_limit *limit_begin(struct setting_check *check, const struct ast_setting *setting)
{
    struct ir_limit *limit = arena_alloc(check->checker->arena, sizeof(*limit));
    *limit = (struct ir_limit){.kind = setting->kind,
                               .count = -1,
                               .per_ns = -1,
                               .burst = -1,
                               .by = check_by(check, setting->limit.by),
                               .setting = setting};
    return limit;
}

/* A limit of 0 is refused: it would be a run that waits for ever. */
static int64_t check_limit(struct setting_check *check, const struct literal *count, int64_t most,
                           const char *what)
{
    int64_t value = check_number(check->checker, count, 1, most, what);
    if (count->kind == LITERAL_INT && wide_compare(count->integer, wide_from(0)) == 0)
        diag_help(check->checker->sink, "for no limit leave it out; to start nothing for a while, "
                                        "pause the queue");
    return value;
}

void check_concurrency(struct setting_check *check, const struct ast_setting *setting)
{
    struct ir_limit *limit = limit_begin(check, setting);
    limit->count = check_limit(check, &setting->limit.count, LIMIT_LIMIT_COUNT, "concurrency");
    limit_add(check, limit);
}

/* What the store's clock can tell apart, and count without running over. */
static void check_pace(struct setting_check *check, const struct ast_limit *rate,
                       const struct ir_limit *limit)
{
    struct diag_sink *sink = check->checker->sink;
    if (limit->count / LIMIT_PER_MS > limit->per_ns / NS_PER_MS)
        diag_report(sink, DIAG_OUT_OF_RANGE, rate->count.span,
                    "a rate is at most %d in a millisecond", LIMIT_PER_MS);
    if (limit->per_ns / limit->count > LIMIT_PERIOD_NS / limit->burst) {
        diag_report(sink, DIAG_OUT_OF_RANGE,
                    rate->burst.kind != LITERAL_NONE ? rate->burst.span : rate->per.span,
                    "an empty bucket would take longer than 366 days to be full again");
        diag_help(sink, "lower the burst, or raise the rate");
    }
}

void check_rate(struct setting_check *check, const struct ast_setting *setting)
{
    const struct ast_limit *rate = &setting->limit;
    struct ir_limit *limit = limit_begin(check, setting);
    limit->count = limit->burst = check_limit(check, &rate->count, LIMIT_LIMIT_COUNT, "a rate");
    limit->per_ns = rate->per.duration_ns;
    if (rate->burst.kind != LITERAL_NONE)
        limit->burst = check_number(check->checker, &rate->burst, 1, LIMIT_LIMIT_COUNT, "a burst");
    if (check_duration(check->checker, &rate->per, NS_PER_MS, LIMIT_PERIOD_NS))
        check_pace(check, rate, limit);
    limit_add(check, limit);
}

void check_fair(struct setting_check *check, const struct ast_setting *setting)
{
    limit_add(check, limit_begin(check, setting));
}
