/* producer/sqlite.c - the one store of libculex-client-sqlite. */
#include "store/register.h"

const struct culex__store_kind *const culex__stores[] = {culex__sqlite_kinds, NULL};

const char culex__stores_note[] =
    ": this program is linked with libculex-client-sqlite, which has SQLite alone; link "
    "libculex-client-redis for Redis, or libculex, which has both";
