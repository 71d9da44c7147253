/* store/stores.c - the stores of libculex: all. */
#include "store/register.h"

const struct culex__store_kind *const culex__stores[] = {
#define STORE(name) culex__##name##_kinds,
#include "store/stores.def"
#undef STORE
    NULL,
};

const char culex__stores_note[] = "";
