/* usage: storm_dump redis SOCKET | sqlite FILE */
#include "dump.h"

#include <string.h>

void dump_id(const void *bytes, char ret_text[DUMP_ID_SIZE])
{
    const unsigned char *from = bytes;
    char *to = ret_text;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        to += snprintf(to, 3, "%02x", from[i]);
    }
}

void dump_text(FILE *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len && i < 120; i++)
        fputc((unsigned char)text[i] < ' ' ? ' ' : text[i], out);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "redis") == 0)
        return dump_redis(argv[2], stdout) ? 0 : 1;
    if (argc == 3 && strcmp(argv[1], "sqlite") == 0)
        return dump_sqlite(argv[2], stdout) ? 0 : 1;
    fputs("usage: storm_dump redis SOCKET | sqlite FILE\n", stderr);
    return 2;
}
