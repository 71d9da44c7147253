/* property_codec - what must hold for every schema and value, on random ones.
 *
 * usage: property_codec [--seed=N] [--cases=N]
 * Each case draws a descriptor and a value, and checks that
 *   the value encodes, decodes to an equal one, and encodes to the same text again;
 *   no proper prefix of the text decodes;
 *   a reader without one of the fields takes the rest, or refuses when it must understand;
 *   random damage never breaks the decoder, and what still decodes can be encoded and is stable.
 * A failure prints the seed of its case; --seed=THAT --cases=1 replays it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema.h"

enum { CASES = 20000, DAMAGES = 4, PREFIX_TEXT_MAX = 160 };

struct trial {
    struct schema_random random;
    culex_arena *arena; /* of decoded values */
    culex_buf text;
    culex_buf again;
    culex_error error;
    const char *wrong; /* NULL while all is well */
};

static bool check(struct trial *trial, bool holds, const char *wrong)
{
    if (!holds && trial->wrong == NULL)
        trial->wrong = wrong;
    return holds;
}

/* The text in an exact allocation, so that a sanitizer sees any read behind it. */
static const void *decode(struct trial *trial, const culex_struct_type *type, const char *text,
                          size_t len)
{
    const void *value = NULL;
    char *copy = malloc(len == 0 ? 1 : len);
    if (copy == NULL)
        abort();
    memcpy(copy, text, len);
    culex_status status = culex_decode(type, trial->arena, copy, len, &value, &trial->error);
    free(copy);
    return status == CULEX_OK ? value : NULL;
}

static bool encode(struct trial *trial, const culex_struct_type *type, const void *value,
                   culex_buf *text)
{
    text->len = 0;
    return culex_encode(type, value, text, &trial->error) == CULEX_OK;
}

static void check_round_trip(struct trial *trial, const culex_struct_type *type, const void *value)
{
    if (!check(trial, encode(trial, type, value, &trial->text), "a valid value was not encoded"))
        return;
    const void *back = decode(trial, type, trial->text.data, trial->text.len);
    if (!check(trial, back != NULL, "an encoded value was not decoded"))
        return;
    check(trial, schema_equal(type, value, back), "decoding changed the value");
    check(trial, encode(trial, type, back, &trial->again), "a decoded value was not encoded");
    check(trial, strcmp(trial->text.data, trial->again.data) == 0, "the text is not stable");
}

static void check_prefixes(struct trial *trial, const culex_struct_type *type)
{
    for (size_t len = 0; len < trial->text.len && trial->text.len <= PREFIX_TEXT_MAX; len++) {
        if (decode(trial, type, trial->text.data, len) != NULL)
            check(trial, false, "a prefix was decoded");
    }
}

static bool is_written(const culex_field *field, const char *value)
{
    if ((field->flags & CULEX_FIELD_OPTIONAL) != 0)
        return value[field->has_offset] != 0;
    size_t len = 1;
    if (field->shape == CULEX_SHAPE_LIST)
        memcpy(&len, value + field->len_offset, sizeof len);
    return len > 0;
}

static void check_older_reader(struct trial *trial, const culex_struct_type *type,
                               const char *value)
{
    const culex_field *field;
    const culex_struct_type *older = schema_drop(&trial->random, type, &field);
    if (older == NULL)
        return;
    bool must = (field->flags & CULEX_FIELD_MUST_UNDERSTAND) != 0 && is_written(field, value);
    const void *back = decode(trial, older, trial->text.data, trial->text.len);
    if (must) {
        check(trial, back == NULL && trial->error.code == CULEX_EUNDERSTAND,
              "a must-understand field was ignored");
        return;
    }
    check(trial, back != NULL && schema_equal(older, value, back), "an unknown field did harm");
}

static void damage(struct schema_random *random, char *text, size_t *len)
{
    static const char tokens[] = "{}[]\",:\\u0!ntf-+.eE19 \x01\x80\xC3\xFF";
    size_t at = schema_draw(random, *len);
    char byte = tokens[schema_draw(random, sizeof tokens)];
    switch (schema_draw(random, 4)) {
    case 0:
        text[at] = byte;
        return;
    case 1:
        text[at] = (char)(text[at] ^ (char)(1 << schema_draw(random, 7)));
        return;
    case 2:
        memmove(text + at, text + at + 1, *len - at - 1);
        *len -= 1;
        return;
    default:
        memmove(text + at + 1, text + at, *len - at);
        text[at] = byte;
        *len += 1;
    }
}

static void check_damage(struct trial *trial, const culex_struct_type *type)
{
    size_t len = trial->text.len;
    char *text = culex_arena_alloc(trial->random.arena, len + DAMAGES + 1);
    if (text == NULL)
        abort();
    memcpy(text, trial->text.data, len);
    for (int round = 0; round < DAMAGES && len > 0; round++) {
        damage(&trial->random, text, &len);
        const void *back = decode(trial, type, text, len);
        if (back == NULL)
            continue;
        if (!check(trial, encode(trial, type, back, &trial->again), "decoded, but not valid"))
            return;
        const void *stable = decode(trial, type, trial->again.data, trial->again.len);
        check(trial, stable != NULL && schema_equal(type, back, stable), "decoded, not stable");
    }
}

static const char *run_case(struct trial *trial, uint64_t seed)
{
    culex_arena_reset(trial->arena);
    culex_arena_reset(trial->random.arena);
    trial->random.state = seed;
    trial->wrong = NULL;
    const culex_struct_type *type = schema_type(&trial->random);
    const char *value = schema_value(&trial->random, type);
    check_round_trip(trial, type, value);
    if (trial->wrong == NULL) {
        check_prefixes(trial, type);
        check_older_reader(trial, type, value);
        check_damage(trial, type);
    }
    return trial->wrong;
}

static int run(struct trial *trial, uint64_t seed, uint64_t cases)
{
    for (uint64_t at = 0; at < cases; at++) {
        const char *wrong = run_case(trial, seed + at);
        if (wrong == NULL)
            continue;
        printf("seed %llu: %s\nerror: %s\ntext:  %s\nagain: %s\n", (unsigned long long)seed + at,
               wrong, trial->error.text, trial->text.data ? trial->text.data : "",
               trial->again.data ? trial->again.data : "");
        return 1;
    }
    printf("%llu cases from seed %llu\n", (unsigned long long)cases, (unsigned long long)seed);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    uint64_t cases = CASES;
    for (int at = 1; at < argc; at++) {
        if (strncmp(argv[at], "--seed=", 7) == 0)
            seed = strtoull(argv[at] + 7, NULL, 10);
        else if (strncmp(argv[at], "--cases=", 8) == 0)
            cases = strtoull(argv[at] + 8, NULL, 10);
        else
            return 2;
    }
    struct trial trial = {.arena = culex_arena_create(), .random.arena = culex_arena_create()};
    if (trial.arena == NULL || trial.random.arena == NULL)
        abort();
    culex_buf_init(&trial.text, 0);
    culex_buf_init(&trial.again, 0);
    int result = run(&trial, seed, cases);
    culex_buf_release(&trial.text);
    culex_buf_release(&trial.again);
    culex_arena_free(trial.arena);
    culex_arena_free(trial.random.arena);
    return result;
}
