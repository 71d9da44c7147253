#include "lock.h"

#include <string.h>

#include "choice.h"
#include "limits.h"

struct item {
    struct item *next;
};

void lock_text_index(const struct lock_text *list, struct map *map)
{
    for (; list != NULL; list = list->next)
        map_add(map, list->text, (void *)(uintptr_t)list);
}

void lock_text_add(struct arena *arena, struct lock_text **list, const char *text)
{
    struct lock_text *item = arena_alloc(arena, sizeof(*item));
    item->text = text;
    while (*list != NULL)
        list = &(*list)->next;
    *list = item;
}

const struct lock_job *lock_job_find(const struct lock *lock, const char *wire)
{
    return map_get(&lock->wires, wire);
}

/* ---- sorting ---- */

static const char *key_of(const struct item *item, size_t offset)
{
    const char *key;
    memcpy(&key, (const char *)item + offset, sizeof(key));
    return key;
}

static struct item *merge(struct item *a, struct item *b, size_t offset)
{
    struct item *first = NULL;
    struct item **end = &first;
    while (a != NULL && b != NULL) {
        struct item **least = strcmp(key_of(b, offset), key_of(a, offset)) < 0 ? &b : &a;
        *end = *least;
        end = &(*least)->next;
        *least = *end;
    }
    *end = a != NULL ? a : b;
    return first;
}

/* Merge sort, which keeps equal ones in order. */
void *lock_sort(void *list, size_t offset)
{
    struct item *first = list;
    struct item *slow = first;
    if (first == NULL || first->next == NULL)
        return first;
    for (struct item *fast = first->next; fast != NULL && fast->next != NULL;
         fast = fast->next->next)
        slow = slow->next;
    struct item *second = slow->next;
    slow->next = NULL;
    return merge(lock_sort(first, offset), lock_sort(second, offset), offset);
}

struct lock_text *lock_text_sort(struct lock_text *list)
{
    return lock_sort(list, offsetof(struct lock_text, text));
}

/* ---- settings ---- */

int64_t lock_in_units(int64_t number, int64_t unit)
{
    return number < 0 ? -1 : number / unit;
}

/* ---- fields ---- */

static bool decimal_read(const char *text, struct wide *ret_wide)
{
    bool is_negative = text[0] == '-';
    const char *digits = text + is_negative;
    size_t len = strlen(digits);
    if (len == 0 || len > 39 || strspn(digits, "0123456789") != len ||
        !wide_parse(digits, len, ret_wide))
        return false;
    if (is_negative)
        *ret_wide = wide_negate(*ret_wide);
    return true;
}

/* All that a payload may hold for this field, by its type alone. */
static void range_of_kind(struct lock_field *field)
{
    const struct ir_kind_info *info = &ir_kinds[field->kind];
    if (info->bits > 0) {
        field->low = wide_type_min(info->bits, info->is_signed);
        field->high = wide_type_max(info->bits, info->is_signed);
    } else if (field->kind == IR_TIMESTAMP || field->kind == IR_DURATION) {
        field->low = wide_type_min(64, true);
        field->high = wide_type_max(64, true);
    } else if (field->kind == IR_STRING || field->kind == IR_BYTES) {
        field->high = wide_from(CULEX_PAYLOAD_MAX);
    }
}

static bool range_narrow(struct lock_field *field)
{
    struct wide bound;
    if (field->min != NULL) {
        if (!decimal_read(field->min, &bound))
            return false;
        field->low = wide_compare(bound, field->low) > 0 ? bound : field->low;
    }
    if (field->max != NULL) {
        if (!decimal_read(field->max, &bound))
            return false;
        field->high = wide_compare(bound, field->high) < 0 ? bound : field->high;
    }
    if (field->min_len > 0)
        field->low = wide_from(field->min_len);
    if (field->max_len > 0 && field->max_len < CULEX_PAYLOAD_MAX) /* The codec reads 0 as "none". */
        field->high = wide_from(field->max_len);
    return true;
}

const char *lock_field_derive(struct lock_field *field)
{
    static const char *const shapes[] = {"single", "list", "array", NULL};
    static const char *const presences[] = {"required", "default", "optional", "list", NULL};
    size_t shape = choice_find(shapes, field->shape);
    size_t presence = choice_find(presences, field->presence);
    int kind = 0;
    while (kind < IR_KIND_COUNT && strcmp(ir_kinds[kind].word, field->type) != 0)
        kind++;
    if (kind == IR_KIND_COUNT)
        return "no such type";
    field->kind = (enum ir_kind)kind;
    if (shapes[shape] == NULL)
        return "no such shape";
    field->form = (enum ast_shape)shape;
    if (presences[presence] == NULL)
        return "no such presence";
    field->need = (enum lock_presence)presence;
    if ((field->form == SHAPE_LIST) != (field->need == LOCK_LIST))
        return "the shape and the presence contradict each other";
    if (field->count > LIMIT_LIST_COUNT || (field->form == SHAPE_ARRAY && field->count < 1))
        return "no such count";
    bool is_named = kind == IR_ENUM || kind == IR_STRUCT || kind == IR_USER;
    if (is_named != (field->ref != NULL && field->version != NULL))
        return "an enum, a struct or a type of the user needs a name and a version";
    range_of_kind(field);
    return range_narrow(field) ? NULL : "a bound is no number";
}
