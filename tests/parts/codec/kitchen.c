#include "kitchen.h"

#include <stdio.h>

#define FIELD(of, id, of_kind, ...)                                                                \
    {                                                                                              \
        .name = #id, .wire = #id, .kind = CULEX_KIND_##of_kind, .offset = offsetof(struct of, id), \
        __VA_ARGS__                                                                                \
    }
#define LIST(of, id, of_kind, ...)                                                                 \
    FIELD(of, id, of_kind, .shape = CULEX_SHAPE_LIST, .len_offset = offsetof(struct of, id##_len), \
          __VA_ARGS__)
#define HAS(of, id)  .has_offset = offsetof(struct of, has_##id)
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const culex_enum_value lang_values[] = {{"EN", KITCHEN_EN, NULL},
                                               {"IT", KITCHEN_IT, NULL},
                                               {"LOW", (uint64_t)(int64_t)KITCHEN_LOW, NULL}};
static const culex_enum_type lang_type = {"shop.lang", CULEX_KIND_INT8, lang_values,
                                          COUNT(lang_values)};

static const culex_field money_fields[] = {
    FIELD(kitchen_money, minor, INT64, .flags = CULEX_FIELD_REQUIRED),
    FIELD(kitchen_money, currency, STRING, .flags = CULEX_FIELD_REQUIRED, .min_len = 3,
          .max_len = 3),
};
const culex_struct_type kitchen_money_type = {"shop.money", sizeof(struct kitchen_money),
                                              money_fields, COUNT(money_fields)};

static const culex_field tree_fields[] = {
    FIELD(kitchen_tree, leaf, INT32, .flags = 0),
    LIST(kitchen_tree, below, STRUCT, .struct_type = &kitchen_tree_type),
};
const culex_struct_type kitchen_tree_type = {"shop.tree", sizeof(struct kitchen_tree), tree_fields,
                                             COUNT(tree_fields)};

static bool span_parse(const char *text, size_t len, void *ret_value)
{
    struct kitchen_span *span = ret_value;
    int end = -1;
    return sscanf(text, "%d..%d%n", &span->from, &span->to, &end) == 2 && (size_t)end == len;
}

static int span_format(const void *value, char *ret_text, size_t size)
{
    const struct kitchen_span *span = value;
    return snprintf(ret_text, size, "%d..%d", span->from, span->to);
}

static const culex_user_type span_type = {"shop.span", sizeof(struct kitchen_span), span_parse,
                                          span_format};

static const int8_t lang_default = KITCHEN_EN;
static const int32_t i32_default = -7;
static const char *const text_default = "no-reply@shop.example";
static const struct kitchen_money price_default = {100, "EUR"};
static const struct kitchen_money pair_default[2] = {{1, "EUR"}, {2, "USD"}};

static const culex_field kitchen_fields[] = {
    FIELD(kitchen, flag, BOOL, .flags = 0),
    FIELD(kitchen, letter, CHAR, .flags = 0),
    FIELD(kitchen, i8, INT8, .flags = 0),
    FIELD(kitchen, i16, INT16, .flags = 0),
    FIELD(kitchen, i32, INT32, .def = &i32_default),
    FIELD(kitchen, i64, INT64, .flags = 0),
    FIELD(kitchen, i128, INT128, .flags = 0),
    FIELD(kitchen, u8, UINT8, .flags = 0),
    FIELD(kitchen, u16, UINT16, .flags = 0),
    FIELD(kitchen, u32, UINT32, .flags = 0),
    FIELD(kitchen, u64, UINT64, .flags = 0),
    FIELD(kitchen, u128, UINT128, .flags = 0),
    FIELD(kitchen, f32, FLOAT32, .flags = 0),
    FIELD(kitchen, f64, FLOAT64, .flags = 0),
    FIELD(kitchen, text, STRING, .def = &text_default),
    FIELD(kitchen, blob, BYTES, .max_len = 16),
    FIELD(kitchen, id, UUID, .flags = 0),
    FIELD(kitchen, at, TIMESTAMP, .flags = 0),
    FIELD(kitchen, wait, DURATION, .flags = 0),
    FIELD(kitchen, lang, ENUM, .enum_type = &lang_type, .def = &lang_default),
    FIELD(kitchen, price, STRUCT, .struct_type = &kitchen_money_type, .def = &price_default),
    FIELD(kitchen, note, STRING, .flags = CULEX_FIELD_OPTIONAL, HAS(kitchen, note)),
    FIELD(kitchen, percent, UINT8,
          .flags = CULEX_FIELD_OPTIONAL | CULEX_FIELD_MIN | CULEX_FIELD_MAX, .min = 1, .max = 100,
          HAS(kitchen, percent)),
    FIELD(kitchen, password, STRING, .flags = CULEX_FIELD_SECRET, .max_len = 8),
    FIELD(kitchen, pin, INT32, .flags = CULEX_FIELD_SECRET | CULEX_FIELD_MIN | CULEX_FIELD_MAX,
          .min = 0, .max = 9999),
    {.name = "tenant",
     .wire = "customer", /* renamed since */
     .kind = CULEX_KIND_UINT64,
     .flags = CULEX_FIELD_MUST_UNDERSTAND,
     .offset = offsetof(struct kitchen, tenant)},
    LIST(kitchen, cc, STRING, .count = 3),
    LIST(kitchen, numbers, INT16, .count = 0),
    LIST(kitchen, labels, STRING, .flags = CULEX_FIELD_OPTIONAL, HAS(kitchen, labels)),
    LIST(kitchen, prices, STRUCT, .struct_type = &kitchen_money_type),
    LIST(kitchen, spans, USER, .user_type = &span_type),
    FIELD(kitchen, matrix, FLOAT64, .shape = CULEX_SHAPE_ARRAY, .count = 4),
    FIELD(kitchen, pair, STRUCT, .shape = CULEX_SHAPE_ARRAY, .count = 2,
          .struct_type = &kitchen_money_type, .def = pair_default),
    FIELD(kitchen, tree, STRUCT, .struct_type = &kitchen_tree_type),
};

const culex_struct_type kitchen_type = {"shop.kitchen", sizeof(struct kitchen), kitchen_fields,
                                        COUNT(kitchen_fields)};

struct kitchen kitchen_make(void)
{
    struct kitchen kitchen = {
        .i32 = i32_default,
        .text = "no-reply@shop.example",
        .lang = KITCHEN_EN,
        .price = {100, "EUR"},
        .password = "",
        .pair = {{1, "EUR"}, {2, "USD"}},
    };
    return kitchen;
}
