/* producer/redis.c - the one store of libculex-client-redis. */
#include "store/register.h"

const struct culex__store_kind *const culex__stores[] = {culex__redis_kinds, NULL};

const char culex__stores_note[] =
    ": this program is linked with libculex-client-redis, which has Redis alone; link "
    "libculex-client-sqlite for an SQLite file, or libculex, which has both";
