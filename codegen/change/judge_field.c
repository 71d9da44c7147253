/* judge_field.c - compares two blocks of fields: params, results, and the structs inside them. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "judge.h"

struct pair {
    struct judge *judge;
    const struct lock_field *before, *after;
    const struct spot *owner;
    struct spot spot;
    unsigned said; /* findings about what is stored */
};

/* The spot of a field in a block; `before` may be NULL. */
static struct spot spot_of(const struct lock_field *before, const struct lock_field *after,
                           const struct spot *owner)
{
    struct spot spot = *owner;
    const struct lock_field *past = owner->past == NULL ? NULL : map_get(owner->past, after->wire);
    spot.span = after->span;
    spot.before = before;
    spot.own = after->allows;
    spot.past_own = past == NULL ? NULL : past->allows;
    return spot;
}

static bool tell(struct pair *pair, enum diag_id id, const char *text)
{
    pair->said++;
    return judge_report(pair->judge, id, &pair->spot, "'%s' %s", pair->after->name, text);
}

static void tell_with(struct pair *pair, enum diag_id id, const char *text, const char *help)
{
    if (tell(pair, id, text))
        diag_help(pair->judge->change->sink, "%s", help);
}

/* Those that read must be deployed before those that write. */
static const char *readers_first(const struct judge *judge)
{
    return judge->is_result ? "deploy what reads results first, then the workers"
                            : "deploy the workers first, then what enqueues";
}

/* ---- what is stored ---- */

/* False when the values inside need no comparison. */
static bool judge_shape(struct pair *pair)
{
    bool are_lists = pair->before->form == SHAPE_LIST && pair->after->form == SHAPE_LIST;
    if (change_shape_reads(pair->after, pair->before) != READS_ALL) {
        tell_with(pair, are_lists ? DIAG_FIELD_COUNT_LOWERED : DIAG_FIELD_SHAPE_CHANGED,
                  are_lists ? "holds fewer values than stored lists may have"
                            : "has another shape than what is stored",
                  are_lists ? "leave the bound as it was and check the length in the handler"
                            : "add a param with another name, and deprecate this one");
        return are_lists;
    }
    if (change_shape_reads(pair->before, pair->after) != READS_ALL)
        tell_with(pair, are_lists ? DIAG_FIELD_COUNT_RAISED : DIAG_FIELD_SHAPE_WIDENED,
                  are_lists ? "holds more values than old workers take"
                            : "is a list, where old workers want an array",
                  readers_first(pair->judge));
    return true;
}

static bool is_type_same(const struct lock_field *before, const struct lock_field *after)
{
    return before->kind == after->kind &&
           (before->kind != IR_USER || change_reads(after, before) == READS_ALL);
}

static enum diag_id id_of_narrowing(const struct lock_field *before, const struct lock_field *after,
                                    enum change_reads reads)
{
    const struct ir_kind_info *old = &ir_kinds[before->kind], *new = &ir_kinds[after->kind];
    bool are_integers = old->bits > 0 && new->bits > 0;
    if (is_type_same(before, after))
        return DIAG_FIELD_LIMIT_NARROWED;
    if (are_integers && old->is_signed != new->is_signed)
        return DIAG_FIELD_SIGNEDNESS_CHANGED;
    if (are_integers && old->bits < new->bits)
        return DIAG_FIELD_LIMIT_NARROWED;
    return reads == READS_NONE && !are_integers ? DIAG_FIELD_TYPE_CHANGED
                                                : DIAG_FIELD_TYPE_NARROWED;
}

static void judge_narrowing(struct pair *pair, enum change_reads reads)
{
    enum diag_id id = id_of_narrowing(pair->before, pair->after, reads);
    if (id == DIAG_FIELD_LIMIT_NARROWED)
        tell_with(pair, id, "has limits that stored values may break",
                  "leave the limits as they were and check the value in the handler");
    else if (id == DIAG_FIELD_TYPE_CHANGED)
        tell_with(pair, id, "has another type than what is stored",
                  "add a param with another name, and deprecate this one");
    else
        tell_with(pair, id, "has a type that does not hold all stored values",
                  "add a param with another name, and deprecate this one");
}

/* A struct is a block of fields again, so fields and structs stand in one file. */
static void judge_structs(struct judge *judge, const struct lock_type *before,
                          const struct lock_type *after)
{
    struct spot spot = {.span = after->span, .block = after->allows};
    if (judge_is_new(judge, before, after))
        judge_block(judge, &before->block, &after->block, &spot);
}

static void judge_values(struct pair *pair)
{
    const struct lock_field *before = pair->before, *after = pair->after;
    if (before->kind == IR_ENUM && after->kind == IR_ENUM) {
        judge_enums(pair->judge, before->target, after->target);
        return;
    }
    if (before->kind == IR_STRUCT && after->kind == IR_STRUCT) {
        judge_structs(pair->judge, before->target, after->target);
        return;
    }
    enum change_reads reads = change_reads(after, before);
    bool is_same_type = is_type_same(before, after);
    if (reads != READS_ALL)
        judge_narrowing(pair, reads);
    if (change_reads(before, after) == READS_ALL || (reads != READS_ALL && !is_same_type))
        return;
    tell_with(pair, is_same_type ? DIAG_FIELD_LIMIT_WIDENED : DIAG_FIELD_TYPE_WIDENED,
              is_same_type ? "has wider limits than old workers take"
                           : "has a type with values that old workers do not take",
              readers_first(pair->judge));
}

static void judge_presence(struct pair *pair)
{
    enum lock_presence before = pair->before->need, after = pair->after->need;
    if (before == LOCK_OPTIONAL && after == LOCK_REQUIRED)
        tell_with(pair, DIAG_FIELD_OPTIONAL_TO_REQUIRED, "is required, and stored runs may lack it",
                  "give it a default instead");
    else if (before == LOCK_REQUIRED && after == LOCK_OPTIONAL)
        tell_with(pair, DIAG_FIELD_REQUIRED_TO_OPTIONAL, "is optional, and old workers require it",
                  readers_first(pair->judge));
    else if (before == LOCK_DEFAULT && after == LOCK_OPTIONAL)
        tell_with(pair, DIAG_FIELD_DEFAULT_TO_OPTIONAL,
                  "is optional; where it is absent, old workers take their default",
                  readers_first(pair->judge));
    else if (before == LOCK_OPTIONAL && after == LOCK_DEFAULT)
        tell_with(pair, DIAG_FIELD_OPTIONAL_TO_DEFAULT,
                  "has a default, with which stored runs that lack it will be read",
                  "keep it optional and choose in the handler");
    else if (before == LOCK_DEFAULT && after == LOCK_REQUIRED)
        tell_with(pair, DIAG_DEFAULT_REMOVED,
                  pair->judge->is_result
                      ? "is required, and no new program reads results older than it"
                      : "is required, and no new worker takes runs older than it",
                  pair->judge->is_result ? "keep the default until no such result is kept"
                                         : "keep the default until no such run is left");
}

/* ---- what callers and operators see ---- */

static bool is_text_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void judge_source(struct pair *pair)
{
    const struct lock_field *before = pair->before, *after = pair->after;
    if (strcmp(before->name, after->name) != 0)
        tell(pair, DIAG_FIELD_RENAMED, "has another name in C than before");
    if (before->target != NULL && !pair->judge->is_retired)
        map_add(pair->judge->change->met, before->target->name, before->target);
    bool is_same = before->kind == after->kind && before->form == after->form &&
                   (before->need == LOCK_OPTIONAL) == (after->need == LOCK_OPTIONAL);
    if (!is_same && pair->said == 0)
        tell(pair, DIAG_FIELD_C_TYPE_CHANGED, "has another type in C than before");
    else if (is_same && is_type_same(before, after) && before->target != NULL &&
             after->target != NULL && strcmp(before->target->c, after->target->c) != 0)
        tell(pair, DIAG_TYPE_RENAMED, "has a type with another name in C than before");
}

static bool is_float(enum ir_kind kind)
{
    return kind == IR_FLOAT32 || kind == IR_FLOAT64;
}

static bool is_number(enum ir_kind kind)
{
    return ir_kinds[kind].bits > 0 || is_float(kind);
}

/* As the program has it. Texts of integers are canonical, and too exact for a double. */
static bool is_number_same(const struct lock_field *before, const struct lock_field *after)
{
    const char *old = before->default_text, *new = after->default_text;
    if (!is_float(before->kind) && !is_float(after->kind))
        return is_text_same(old, new);
    bool are_both_small = before->kind == IR_FLOAT32 && after->kind == IR_FLOAT32;
    return strtod(old, NULL) == strtod(new, NULL) ||
           (are_both_small && strtof(old, NULL) == strtof(new, NULL));
}

/* Whether two defaults mean the same, even of different types: 1, 1.0 and 1e0 do. */
static bool is_default_same(const struct lock_field *before, const struct lock_field *after)
{
    const char *old = before->default_text, *new = after->default_text;
    if (old == NULL || new == NULL || !is_number(before->kind) || !is_number(after->kind))
        return is_text_same(old, new);
    return is_number_same(before, after);
}

static void judge_ops(struct pair *pair)
{
    const struct lock_field *before = pair->before, *after = pair->after;
    if (before->need == LOCK_DEFAULT && after->need == LOCK_DEFAULT &&
        !is_default_same(before, after))
        tell(pair, DIAG_DEFAULT_CHANGED, "has another default; queued runs keep the old one");
    if (before->is_secret && !after->is_secret)
        tell(pair, DIAG_SECRET_REMOVED, "is no longer secret, also in runs that are stored");
    if (before->must_understand && !after->must_understand)
        tell(pair, DIAG_MUST_UNDERSTAND_DROPPED, "is ignored by workers that do not know it");
}

static void judge_pair(struct judge *judge, const struct lock_field *before,
                       const struct lock_field *after, const struct spot *owner)
{
    struct pair pair = {.judge = judge,
                        .before = before,
                        .after = after,
                        .owner = owner,
                        .spot = spot_of(before, after, owner)};
    if (before->is_encrypted != after->is_encrypted) {
        tell_with(&pair, DIAG_FIELD_ENCRYPTION_CHANGED,
                  after->is_encrypted ? "is encrypted, and what is stored is not"
                                      : "is not encrypted, and what is stored is",
                  "add a param with another name, and deprecate this one");
    } else if (judge_shape(&pair)) {
        judge_values(&pair);
        if (before->form == SHAPE_LIST || after->form != SHAPE_LIST)
            judge_presence(&pair);
    }
    judge_source(&pair);
    judge_ops(&pair);
}

/* ---- fields on one side only ---- */

static void judge_added(struct judge *judge, const struct block_names *before,
                        const struct lock_field *field, const struct spot *owner)
{
    struct spot spot = spot_of(NULL, field, owner);
    if (map_get(&before->gone, field->wire) != NULL ||
        map_get(&before->reserved, field->wire) != NULL) {
        if (judge_report(judge, DIAG_RESERVED_NAME_REUSED, &spot, "'%s' was used once and removed",
                         field->wire))
            diag_help(judge->change->sink, "choose another name");
    }
    if (field->need == LOCK_REQUIRED &&
        judge_report(judge, DIAG_FIELD_REQUIRED_ADDED, &spot,
                     "'%s' is required, and stored %s do not have it", field->name,
                     judge->is_result ? "results" : "runs"))
        diag_help(judge->change->sink, "give it a default or make it optional; if it is an old "
                                       "param with a new name, add [[was(\"old\")]]");
    if (field->must_understand &&
        judge_report(judge, DIAG_MUST_UNDERSTAND_ADDED, &spot,
                     "'%s' makes workers that do not know it give the run back", field->name))
        diag_help(judge->change->sink, "%s", readers_first(judge));
}

static void judge_removed(struct judge *judge, const struct block_names *after,
                          const struct lock_field *field, const struct spot *owner)
{
    struct spot spot = *owner;
    spot.before = field;
    if (map_get(&after->reserved, field->wire) == NULL &&
        judge_report(judge, DIAG_FIELD_REMOVED_UNRESERVED, &spot,
                     "'%s' was removed and its name is not reserved", field->wire))
        diag_help(judge->change->sink,
                  "write: reserved \"%s\"; or [[was(\"%s\")]] on the param "
                  "that has taken its place",
                  field->wire, field->wire);
    if (field->must_understand &&
        judge_report(judge, DIAG_MUST_UNDERSTAND_REMOVED, &spot,
                     "'%s' was removed, and stored runs demand that it be understood", field->name))
        diag_help(judge->change->sink, "keep it, marked [[deprecated]]");
    if (field->need == LOCK_REQUIRED &&
        judge_report(judge, DIAG_FIELD_REQUIRED_REMOVED, &spot,
                     "'%s' was removed, and old workers require it", field->name))
        diag_help(judge->change->sink, "%s", readers_first(judge));
}

/* The field that `field` was or is, when only its [[was]] was changed: the other side has the
 * name in C, and its name on the wire is unknown on this side. */
static const struct lock_field *find_by_was(const struct block_names *others,
                                            const struct block_names *own,
                                            const struct lock_field *field)
{
    const struct lock_field *other = map_get(&others->names, field->name);
    bool is_it = other != NULL && map_get(&own->wires, other->wire) == NULL &&
                 map_get(&others->wires, field->wire) == NULL;
    return is_it ? other : NULL;
}

static void judge_was(struct judge *judge, const struct lock_field *before,
                      const struct lock_field *after, const struct spot *owner)
{
    struct spot spot = spot_of(before, after, owner);
    if (judge_report(judge, DIAG_WAS_REMOVED, &spot, "'%s' is '%s' in stored runs, not '%s'",
                     after->name, before->wire, after->wire))
        diag_help(judge->change->sink, "write: [[was(\"%s\")]]", before->wire);
}

static void judge_reserved(struct judge *judge, const struct lock_block *before,
                           const struct block_names *after, const struct spot *owner)
{
    for (const struct lock_text *at = before->reserved; at != NULL; at = at->next) {
        if (map_get(&after->reserved, at->text) != NULL || map_get(&after->wires, at->text) != NULL)
            continue;
        if (judge_report(judge, DIAG_RESERVED_REMOVED, owner, "'%s' is no longer reserved",
                         at->text))
            diag_help(judge->change->sink, "write: reserved \"%s\";", at->text);
    }
}

/* The arguments of _make: names on the wire of required fields. */
static const char *required_of(struct arena *arena, const struct lock_block *block)
{
    struct buf names = {0};
    buf_text(&names, "");
    for (const struct lock_field *at = block->fields; at != NULL; at = at->next) {
        if (at->need == LOCK_REQUIRED)
            buf_printf(&names, "%s%s", names.len == 0 ? "" : ", ", at->wire);
    }
    const char *text = arena_copy(arena, names.data, names.len);
    buf_release(&names);
    return text;
}

static void judge_make(struct judge *judge, const struct lock_block *before,
                       const struct lock_block *after, const struct spot *owner)
{
    struct spot spot = *owner;
    if (judge->version != NULL)
        return;
    const char *old = required_of(judge->change->arena, before);
    if (strcmp(old, required_of(judge->change->arena, after)) == 0)
        return;
    spot.was = arena_printf(judge->change->arena, "(%s)", old);
    judge_report(judge, DIAG_REQUIRED_SET_CHANGED, &spot,
                 "the required %s, which _make takes, are others or in another order",
                 judge->is_result ? "fields" : "params");
}

static void names_find(struct block_names *names, struct arena *arena,
                       const struct lock_block *block)
{
    *names = (struct block_names){.block = block};
    map_init(&names->wires, arena);
    map_init(&names->names, arena);
    map_init(&names->reserved, arena);
    map_init(&names->gone, arena);
    for (struct lock_field *at = block->fields; at != NULL; at = at->next) {
        map_add(&names->wires, at->wire, at);
        map_add(&names->names, at->name, at);
    }
    lock_text_index(block->reserved, &names->reserved);
    lock_text_index(block->gone, &names->gone);
}

static void judge_fields(struct judge *judge, const struct block_names *before,
                         const struct block_names *after, const struct spot *owner)
{
    for (const struct lock_field *at = after->block->fields; at != NULL; at = at->next) {
        const struct lock_field *old = map_get(&before->wires, at->wire);
        const struct lock_field *lost = old == NULL ? find_by_was(before, after, at) : NULL;
        if (old != NULL)
            judge_pair(judge, old, at, owner);
        else if (lost != NULL)
            judge_was(judge, lost, at, owner);
        else
            judge_added(judge, before, at, owner);
    }
    for (const struct lock_field *at = before->block->fields; at != NULL; at = at->next) {
        if (map_get(&after->wires, at->wire) == NULL && find_by_was(after, before, at) == NULL)
            judge_removed(judge, after, at, owner);
    }
}

void judge_block(struct judge *judge, const struct lock_block *before,
                 const struct lock_block *after, const struct spot *owner)
{
    struct block_names old, new;
    names_find(&old, &judge->scratch, before);
    names_find(&new, &judge->scratch, after);
    judge_fields(judge, &old, &new, owner);
    judge_reserved(judge, before, &new, owner);
    judge_make(judge, before, after, owner);
}
