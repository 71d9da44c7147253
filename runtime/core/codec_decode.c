/* culex_decode: objects and lists; codec_value.c has the values in them.
 *
 * Memory: strings and bytes take at most their length in the payload. Elements of lists are
 * charged to decoder->list_bytes_left; as a list grows it is copied, which leaves at most four
 * times that in the arena. */
#include "core/codec_decode.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/nearest.h"
#include "core/base64.h"
#include "core/codec.h"
#include "core/codec_value.h"

enum { EXCERPT_MAX = 128, GROW_BYTES_MIN = 64, SEEN_WORDS = CULEX_FIELDS_MAX / 64 };

/* The fields of one object while it is read. */
struct object {
    const culex_struct_type *type;
    const struct culex__path *path; /* of the object; NULL for the outermost */
    char *base;                     /* the C struct */
    size_t next;                    /* the field that probably comes next */
    uint64_t seen[SEEN_WORDS];      /* fields that the payload named */
};

static culex_status decode_object(struct culex__decoder *decoder, const struct culex__path *path,
                                  const culex_struct_type *type, void *value);
static culex_status fill_object(struct culex__decoder *decoder, const struct culex__path *path,
                                const culex_struct_type *type, char *base);

static culex_status enter(struct culex__decoder *decoder, const struct culex__path *path)
{
    if (decoder->depth_left == 0)
        return culex__decode_malformed(decoder, path,
                                       "too many objects and lists inside each other");
    decoder->depth_left--;
    return CULEX_OK;
}

/* ---- values that the payload does not have ---- */

static culex_status fill_slot(struct culex__decoder *decoder, const struct culex__path *path,
                              const culex_field *field, char *slot)
{
    static const char empty[] = "";
    const char *text = empty;
    if (field->kind == CULEX_KIND_STRUCT)
        return fill_object(decoder, path, field->struct_type, slot);
    if (field->kind == CULEX_KIND_STRING)
        memcpy(slot, &text, sizeof text); /* never NULL, so that it can be encoded again */
    return CULEX_OK;
}

/* The default; without one what is nearest to zero and can be encoded. */
static culex_status fill_field(struct culex__decoder *decoder, const struct culex__path *path,
                               const culex_field *field, char *base)
{
    size_t size = culex__slot_size(field);
    size_t count = field->shape == CULEX_SHAPE_ARRAY ? field->count : 1;
    culex_status status = CULEX_OK;
    if ((field->flags & CULEX_FIELD_REQUIRED) != 0)
        return culex__codec_fail(decoder->error, CULEX_EDECODE, path,
                                 "required, but not in the payload");
    if (field->shape == CULEX_SHAPE_LIST)
        return CULEX_OK;
    if (field->def != NULL) {
        memcpy(base + field->offset, field->def, size * count);
        return CULEX_OK;
    }
    if ((field->flags & CULEX_FIELD_OPTIONAL) != 0)
        return CULEX_OK;
    for (size_t at = 0; at < count && status == CULEX_OK; at++)
        status = fill_slot(decoder, path, field, base + field->offset + at * size);
    return status;
}

/* A struct of which the payload has nothing. */
static culex_status fill_object(struct culex__decoder *decoder, const struct culex__path *path,
                                const culex_struct_type *type, char *base)
{
    culex_status status = enter(decoder, path);
    if (status != CULEX_OK)
        return status;
    for (size_t at = 0; at < type->field_count && status == CULEX_OK; at++) {
        struct culex__path inner = culex__path_field(path, &type->fields[at]);
        status = fill_field(decoder, &inner, &type->fields[at], base);
    }
    decoder->depth_left++;
    return status;
}

/* ---- lists ---- */

static culex_status decode_value(struct culex__decoder *decoder, const struct culex__path *path,
                                 const culex_field *field, void *slot)
{
    if (field->kind == CULEX_KIND_STRUCT)
        return decode_object(decoder, path, field->struct_type, slot);
    return culex__decode_scalar(decoder, path, field, slot);
}

struct list {
    char *data;
    size_t len;
    size_t cap;
};

static culex_status list_grow(struct culex__decoder *decoder, struct list *list, size_t size)
{
    size_t first = size > 0 && size < GROW_BYTES_MIN ? GROW_BYTES_MIN / size : 1;
    size_t cap = list->cap == 0 ? first : list->cap * 2;
    char *data = culex_arena_alloc(decoder->arena, cap * size);
    if (data == NULL)
        return culex__decode_exhausted(decoder);
    if (list->len > 0)
        memcpy(data, list->data, list->len * size);
    list->data = data;
    list->cap = cap;
    return CULEX_OK;
}

static culex_status list_add(struct culex__decoder *decoder, const struct culex__path *path,
                             const culex_field *field, struct list *list)
{
    size_t size = culex__slot_size(field);
    if (field->count > 0 && list->len == field->count)
        return culex__codec_fail(decoder->error, CULEX_EDECODE, path,
                                 "expected at most %zu elements, found more", list->len);
    if (list->len == culex__list_max(field))
        return culex__codec_fail(decoder->error, CULEX_EDECODE, path,
                                 "expected at most %zu elements, found more", list->len);
    if (size > decoder->list_bytes_left)
        return culex__codec_fail(decoder->error, CULEX_ELIMIT, path,
                                 "the lists take more memory than is granted for %zu bytes",
                                 (size_t)(decoder->json.end - decoder->json.start));
    decoder->list_bytes_left -= size;
    if (list->len == list->cap && list_grow(decoder, list, size) != CULEX_OK)
        return CULEX_ENOMEM;
    struct culex__path element = culex__path_element(path, list->len);
    return decode_value(decoder, &element, field, list->data + list->len++ * size);
}

static culex_status decode_list(struct culex__decoder *decoder, const struct culex__path *path,
                                const culex_field *field, char *base)
{
    struct list list = {NULL, 0, 0};
    if (!culex__json_take(&decoder->json, ']')) {
        do {
            culex_status status = list_add(decoder, path, field, &list);
            if (status != CULEX_OK)
                return status;
        } while (culex__json_take(&decoder->json, ','));
        if (!culex__json_take(&decoder->json, ']'))
            return culex__decode_malformed(decoder, path, "no ',' and no ']' after an element");
    }
    memcpy(base + field->offset, &list.data, sizeof list.data);
    memcpy(base + field->len_offset, &list.len, sizeof list.len);
    return CULEX_OK;
}

static culex_status decode_array(struct culex__decoder *decoder, const struct culex__path *path,
                                 const culex_field *field, char *base)
{
    size_t size = culex__slot_size(field);
    for (size_t at = 0; at < field->count; at++) {
        struct culex__path element = culex__path_element(path, at);
        bool is_end = at > 0 ? !culex__json_take(&decoder->json, ',')
                             : culex__json_peek(&decoder->json) == ']';
        if (is_end)
            return culex__codec_fail(decoder->error, CULEX_EDECODE, path,
                                     "expected %zu elements, found %zu", field->count, at);
        culex_status status =
            decode_value(decoder, &element, field, base + field->offset + at * size);
        if (status != CULEX_OK)
            return status;
    }
    if (culex__json_take(&decoder->json, ']'))
        return CULEX_OK;
    return culex__codec_fail(decoder->error, CULEX_EDECODE, path,
                             "expected %zu elements, found more", field->count);
}

static culex_status decode_elements(struct culex__decoder *decoder, const struct culex__path *path,
                                    const culex_field *field, char *base)
{
    if (!culex__json_take(&decoder->json, '['))
        return culex__decode_unexpected(decoder, path, "a list");
    culex_status status = enter(decoder, path);
    if (status != CULEX_OK)
        return status;
    status = field->shape == CULEX_SHAPE_LIST ? decode_list(decoder, path, field, base)
                                              : decode_array(decoder, path, field, base);
    decoder->depth_left++;
    return status;
}

/* ---- objects ---- */

static bool name_is(const char *wire, const struct culex__json_text *name)
{
    /* By length, not to a NUL: a hostile name may have one inside. */
    return strlen(wire) == name->len && memcmp(wire, name->data, name->len) == 0;
}

/* The field called `name`, or NULL. Payloads mostly have the schema's order. */
static const culex_field *field_find(struct object *object, const struct culex__json_text *name)
{
    size_t count = object->type->field_count;
    for (size_t step = 0; step < count; step++) {
        size_t at = object->next + step < count ? object->next + step : object->next + step - count;
        const culex_field *field = &object->type->fields[at];
        if (name_is(field->wire, name)) {
            object->next = at + 1 < count ? at + 1 : 0;
            return field;
        }
    }
    return NULL;
}

/* A name and its ':', escapes resolved. */
static culex_status take_name(struct culex__decoder *decoder, const struct culex__path *path,
                              struct culex__json_text *ret_name)
{
    if (culex__json_peek(&decoder->json) != '"')
        return culex__decode_malformed(decoder, path, "no name where one must be");
    const char *wrong = culex__json_string(&decoder->json, ret_name);
    if (wrong != NULL)
        return culex__decode_malformed(decoder, path, wrong);
    if (!culex__json_take(&decoder->json, ':'))
        return culex__decode_malformed(decoder, path, "no ':' after a name");
    return culex__decode_resolve(decoder, ret_name);
}

static culex_status refuse_unknown(const struct culex__decoder *decoder,
                                   const struct object *object, const struct culex__json_text *name)
{
    char word[EXCERPT_MAX + 1], meant[128];
    struct culex__nearest nearest = {.word = word};
    size_t len = name->len < EXCERPT_MAX ? name->len : EXCERPT_MAX;
    memcpy(word, name->data, len);
    word[len] = '\0';
    for (size_t at = 0; at < object->type->field_count; at++)
        culex__nearest_offer(&nearest, object->type->fields[at].wire);
    return culex__codec_fail(decoder->error, CULEX_EDECODE, object->path, "a %s has no '%s'%s",
                             object->type->name, word, culex__nearest_ask(&nearest, meant));
}

/* ---- the steps of a chain ---- */

static bool is_chain(const struct culex__decoder *decoder, const struct object *object,
                     const struct culex__json_text *name)
{
    return object->path == NULL && !decoder->is_exact && name_is(CULEX_CHAIN_NAME, name);
}

static culex_status chain_strange(const struct culex__decoder *decoder)
{
    return culex__fail(decoder->error, CULEX_EUNDERSTAND,
                       "the payload has the steps of a chain in a form that this program does not "
                       "know");
}

/* The name of a job: a string without escapes. */
static culex_status take_step(struct culex__decoder *decoder, const char **ret_step)
{
    struct culex__json_text text = {.data = ""};
    if (culex__json_peek(&decoder->json) != '"' ||
        culex__json_string(&decoder->json, &text) != NULL || text.len == 0 ||
        text.len > CULEX_JOB_NAME_MAX || memchr(text.data, '\\', text.len) != NULL)
        return chain_strange(decoder);
    char *step = culex__arena_bytes(decoder->arena, text.len + 1);
    if (step == NULL)
        return culex__decode_exhausted(decoder);
    memcpy(step, text.data, text.len);
    step[text.len] = '\0';
    *ret_step = step;
    return CULEX_OK;
}

static culex_status take_steps(struct culex__decoder *decoder, const char **steps)
{
    culex_status status = CULEX_OK;
    if (!culex__json_take(&decoder->json, '['))
        return chain_strange(decoder);
    do {
        if (decoder->rest.count == CULEX_CHAIN_STEPS_MAX - 1)
            return chain_strange(decoder);
        status = take_step(decoder, &steps[decoder->rest.count++]);
    } while (status == CULEX_OK && culex__json_take(&decoder->json, ','));
    if (status == CULEX_OK && !culex__json_take(&decoder->json, ']'))
        return chain_strange(decoder);
    return status;
}

/* In another form than this it is of a later program. */
static culex_status take_chain(struct culex__decoder *decoder)
{
    if (decoder->rest.count > 0)
        return chain_strange(decoder);
    const char **steps = culex_arena_alloc(decoder->arena, CULEX_CHAIN_STEPS_MAX * sizeof *steps);
    if (steps == NULL)
        return culex__decode_exhausted(decoder);
    decoder->rest.steps = steps;
    return take_steps(decoder, steps);
}

static culex_status take_unknown(struct culex__decoder *decoder, const struct object *object,
                                 const struct culex__json_text *name, bool is_marked)
{
    if (is_marked && is_chain(decoder, object, name))
        return take_chain(decoder);
    if (is_marked) {
        int len = name->len < EXCERPT_MAX ? (int)name->len : EXCERPT_MAX;
        return culex__codec_fail(decoder->error, CULEX_EUNDERSTAND, object->path,
                                 "the payload has %.*s, which this program does not know but must",
                                 len, name->data);
    }
    if (decoder->is_exact)
        return refuse_unknown(decoder, object, name);
    const char *wrong = culex__json_skip(&decoder->json, decoder->depth_left);
    return wrong == NULL ? CULEX_OK : culex__decode_malformed(decoder, object->path, wrong);
}

static culex_status decode_form(struct culex__decoder *decoder, const struct culex__path *path,
                                const culex_field *field, char *base)
{
    return field->shape == CULEX_SHAPE_SINGLE
               ? decode_value(decoder, path, field, base + field->offset)
               : decode_elements(decoder, path, field, base);
}

/* ---- sealed fields ---- */

/* The text between the quotes of {"!culex.sealed":"..."}, which is base64 without escapes. */
static culex_status take_box(struct culex__decoder *decoder, const struct culex__path *path,
                             struct culex__json_text *ret_text)
{
    static const char malformed[] = "expected what is sealed, found something else";
    struct culex__json *json = &decoder->json;
    struct culex__json_text name = {.data = ""};
    bool is_box = culex__json_take(json, '{') && culex__json_peek(json) == '"' &&
                  culex__json_string(json, &name) == NULL && name.len == strlen(CULEX_BOX_NAME) &&
                  memcmp(name.data, CULEX_BOX_NAME, name.len) == 0 && culex__json_take(json, ':') &&
                  culex__json_peek(json) == '"' && culex__json_string(json, ret_text) == NULL &&
                  culex__json_take(json, '}');
    return is_box ? CULEX_OK
                  : culex__codec_fail(decoder->error, CULEX_EDECODE, path, "%s", malformed);
}

/* The text that was sealed, in the arena. */
static culex_status open_box(struct culex__decoder *decoder, const struct culex__path *path,
                             const culex_field *field, const struct culex__json_text *text,
                             struct culex__json *ret_json)
{
    size_t room = text->len / 4 * 3 + 1, size, len = 0;
    unsigned char *box = (unsigned char *)culex__arena_bytes(decoder->arena, room);
    unsigned char *plain = (unsigned char *)culex__arena_bytes(decoder->arena, room);
    culex_error error = {0};
    if (box == NULL || plain == NULL)
        return culex__decode_exhausted(decoder);
    if (!culex__base64_parse(text->data, text->len, box, &size))
        return culex__codec_fail(decoder->error, CULEX_EDECODE, path,
                                 "what is sealed there is damaged: it is no base64");
    culex_status status =
        culex__box_open(decoder->sealing, field->wire, box, size, plain, &len, &error);
    if (status != CULEX_OK)
        return culex__codec_fail(decoder->error, status, path, "%s", error.text);
    const char *start = (const char *)plain;
    *ret_json = (struct culex__json){.start = start, .at = start, .end = start + len};
    return CULEX_OK;
}

static culex_status decode_opened(struct culex__decoder *decoder, const struct culex__path *path,
                                  const culex_field *field, char *base, struct culex__json inner)
{
    struct culex__json outer = decoder->json;
    decoder->json = inner;
    culex_status status = decode_form(decoder, path, field, base);
    culex__json_peek(&decoder->json);
    if (status == CULEX_OK && decoder->json.at != decoder->json.end)
        status = culex__decode_malformed(decoder, path, "more text behind the value");
    decoder->json = outer;
    return status;
}

static culex_status decode_sealed(struct culex__decoder *decoder, const struct culex__path *path,
                                  const culex_field *field, char *base)
{
    struct culex__json_text text = {.data = ""};
    struct culex__json inner;
    culex_status status = take_box(decoder, path, &text);
    if (status != CULEX_OK)
        return status;
    if (decoder->sealing == NULL || decoder->sealing->keys == NULL)
        return culex__codec_fail(decoder->error, CULEX_ENOKEY, path, "%s",
                                 decoder->sealing == NULL ? CULEX__NO_SEALING_TEXT
                                                          : CULEX__NO_KEYS_TEXT);
    status = enter(decoder, path);
    if (status == CULEX_OK)
        status = open_box(decoder, path, field, &text, &inner);
    if (status == CULEX_OK)
        status = decode_opened(decoder, path, field, base, inner);
    decoder->depth_left++;
    return status;
}

static culex_status decode_field(struct culex__decoder *decoder, struct object *object,
                                 const culex_field *field)
{
    size_t at = (size_t)(field - object->type->fields);
    assert(at < CULEX_FIELDS_MAX); /* culex__codec_check */
    struct culex__path path = culex__path_field(object->path, field);
    bool is_optional = (field->flags & CULEX_FIELD_OPTIONAL) != 0;
    if ((object->seen[at / 64] >> at % 64 & 1) != 0)
        return culex__codec_fail(decoder->error, CULEX_EDECODE, &path, "in the payload twice");
    object->seen[at / 64] |= UINT64_C(1) << at % 64;
    if (culex__json_peek(&decoder->json) == 'n' && culex__json_word(&decoder->json, "null"))
        return fill_field(decoder, &path, field, object->base);
    if (is_optional)
        memcpy(object->base + field->has_offset, &(bool){true}, sizeof(bool));
    if ((field->flags & CULEX_FIELD_ENCRYPTED) != 0)
        return decode_sealed(decoder, &path, field, object->base);
    return decode_form(decoder, &path, field, object->base);
}

static culex_status decode_member(struct culex__decoder *decoder, struct object *object)
{
    struct culex__json_text name = {.data = ""};
    culex_status status = take_name(decoder, object->path, &name);
    if (status != CULEX_OK)
        return status;
    bool is_marked = name.len > 0 && name.data[0] == '!';
    name.data += is_marked;
    name.len -= is_marked;
    const culex_field *field = field_find(object, &name);
    if (field == NULL)
        return take_unknown(decoder, object, &name, is_marked);
    return decode_field(decoder, object, field);
}

static culex_status decode_members(struct culex__decoder *decoder, struct object *object)
{
    if (culex__json_take(&decoder->json, '}'))
        return CULEX_OK;
    do {
        culex_status status = decode_member(decoder, object);
        if (status != CULEX_OK)
            return status;
    } while (culex__json_take(&decoder->json, ','));
    if (culex__json_take(&decoder->json, '}'))
        return CULEX_OK;
    return culex__decode_malformed(decoder, object->path, "no ',' and no '}' after a value");
}

static culex_status fill_missing(struct culex__decoder *decoder, const struct object *object)
{
    culex_status status = CULEX_OK;
    for (size_t at = 0; at < object->type->field_count && status == CULEX_OK; at++) {
        const culex_field *field = &object->type->fields[at];
        if ((object->seen[at / 64] >> at % 64 & 1) != 0)
            continue;
        struct culex__path path = culex__path_field(object->path, field);
        status = fill_field(decoder, &path, field, object->base);
    }
    return status;
}

static culex_status decode_object(struct culex__decoder *decoder, const struct culex__path *path,
                                  const culex_struct_type *type, void *value)
{
    struct object object = {.type = type, .path = path, .base = value};
    culex_status status = culex__codec_check(type, decoder->error);
    if (status != CULEX_OK)
        return status;
    if (!culex__json_take(&decoder->json, '{'))
        return culex__decode_unexpected(decoder, path, "an object");
    status = enter(decoder, path);
    if (status == CULEX_OK)
        status = decode_members(decoder, &object);
    if (status != CULEX_OK)
        return status;
    status = fill_missing(decoder, &object);
    decoder->depth_left++;
    return status;
}

static culex_status decode_whole(struct culex__decoder *decoder, const culex_struct_type *type,
                                 void *value)
{
    culex_status status = decode_object(decoder, NULL, type, value);
    if (status != CULEX_OK)
        return status;
    culex__json_peek(&decoder->json);
    if (decoder->json.at == decoder->json.end)
        return CULEX_OK;
    return culex__decode_malformed(decoder, NULL, "more text behind the payload");
}

bool culex__payload_is_well_formed(const void *text, size_t len)
{
    const char *start = len == 0 ? "" : text;
    struct culex__json json = {.start = start, .at = start, .end = start + len};
    if (len > CULEX_PAYLOAD_MAX || culex__json_peek(&json) != '{' ||
        culex__json_skip(&json, CULEX_PAYLOAD_DEPTH_MAX) != NULL)
        return false;
    culex__json_peek(&json);
    return json.at == json.end;
}

static culex_status decode_text(const struct culex__sealing *sealing, const culex_struct_type *type,
                                culex_arena *arena, const void *text, size_t len, bool is_exact,
                                const void **ret_value, struct culex_rest *ret_rest,
                                culex_error *error)
{
    if (type == NULL || arena == NULL || ret_value == NULL || (text == NULL && len > 0))
        return culex__fail(error, CULEX_EINVAL,
                           "no type, no arena, no text or no place for the value");
    if (len > CULEX_PAYLOAD_MAX)
        return culex__fail(error, CULEX_ELIMIT, "the payload has %zu bytes, at most %d are read",
                           len, CULEX_PAYLOAD_MAX);
    const char *start = len == 0 ? "" : text;
    struct culex__decoder decoder = {
        .json = {.start = start, .at = start, .end = start + len},
        .arena = arena,
        .error = error,
        .depth_left = CULEX_PAYLOAD_DEPTH_MAX,
        .list_bytes_left = culex__list_bytes_max(len),
        .sealing = sealing,
        .is_exact = is_exact,
    };
    void *value = culex_arena_alloc(arena, type->size);
    if (value == NULL)
        return culex__decode_exhausted(&decoder);
    culex_status status = decode_whole(&decoder, type, value);
    if (status != CULEX_OK)
        return status;
    *ret_value = value;
    if (ret_rest != NULL)
        *ret_rest = decoder.rest;
    return CULEX_OK;
}

culex_status culex_decode(const culex_struct_type *type, culex_arena *arena, const void *text,
                          size_t len, const void **ret_value, culex_error *error)
{
    return decode_text(NULL, type, arena, text, len, false, ret_value, NULL, error);
}

culex_status culex__decode_sealed(const struct culex__sealing *sealing,
                                  const culex_struct_type *type, culex_arena *arena,
                                  const void *text, size_t len, const void **ret_value,
                                  culex_error *error)
{
    return decode_text(sealing, type, arena, text, len, false, ret_value, NULL, error);
}

culex_status culex__decode_params(const struct culex__sealing *sealing,
                                  const culex_struct_type *type, culex_arena *arena,
                                  const void *text, size_t len, const void **ret_value,
                                  struct culex_rest *ret_rest, culex_error *error)
{
    return decode_text(sealing, type, arena, text, len, false, ret_value, ret_rest, error);
}

culex_status culex__decode_exact(const culex_struct_type *type, culex_arena *arena,
                                 const void *text, size_t len, const void **ret_value,
                                 culex_error *error)
{
    return decode_text(NULL, type, arena, text, len, true, ret_value, NULL, error);
}
