/* kitchen.h - one struct with every kind of field in every shape, and its descriptor. */
#ifndef TESTS_CODEC_KITCHEN_H
#define TESTS_CODEC_KITCHEN_H

#include <culex/codec.h>

enum kitchen_lang { KITCHEN_EN = 1, KITCHEN_IT = 2, KITCHEN_LOW = -128 };

struct kitchen_money {
    int64_t minor;
    const char *currency; /* exactly three bytes */
};

struct kitchen_span { /* a type of the user's own: "3..7" */
    int from, to;
};

struct kitchen_tree { /* lists make it recursive */
    int32_t leaf;
    const struct kitchen_tree *below;
    size_t below_len;
};

struct kitchen {
    bool flag;
    char letter;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    culex_int128 i128;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    culex_uint128 u128;
    float f32;
    double f64;
    const char *text;
    culex_bytes blob;
    culex_uuid id;
    culex_time at;
    culex_duration wait;
    int8_t lang;
    struct kitchen_money price;
    bool has_note;
    const char *note;
    bool has_percent;
    uint8_t percent;      /* 1..100 */
    const char *password; /* secret, at most 8 bytes */
    int32_t pin;          /* secret, 0..9999 */
    uint64_t tenant;      /* must be understood */
    const char *const *cc;
    size_t cc_len; /* at most 3 */
    const int16_t *numbers;
    size_t numbers_len;
    bool has_labels;
    const char *const *labels;
    size_t labels_len;
    const struct kitchen_money *prices;
    size_t prices_len;
    const struct kitchen_span *spans;
    size_t spans_len;
    double matrix[4];
    struct kitchen_money pair[2];
    struct kitchen_tree tree;
};

extern const culex_struct_type kitchen_type;
extern const culex_struct_type kitchen_money_type;
extern const culex_struct_type kitchen_tree_type;

/* Every param at its default or zero, and valid. */
struct kitchen kitchen_make(void);

#endif
