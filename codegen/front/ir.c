#include "ir.h"

#include <string.h>

const struct ir_kind_info ir_kinds[IR_KIND_COUNT] = {
#define X(symbol, word, bits, is_signed) {word, bits, is_signed},
    IR_KINDS(X)
#undef X
};

enum ir_kind ir_kind_find(const char *word)
{
    int kind = 0;
    while (kind < IR_ENUM && strcmp(ir_kinds[kind].word, word) != 0)
        kind++;
    return kind < IR_ENUM ? (enum ir_kind)kind : IR_KIND_COUNT;
}
