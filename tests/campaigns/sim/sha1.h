/* sim/sha1.h - the digest by which Redis knows a script. */
#ifndef CULEX_SIM_SHA1_H
#define CULEX_SIM_SHA1_H

#include <stddef.h>

/* 40 hexadecimal digits and a NUL. */
void sha1_hex(const void *data, size_t len, char ret_digest[41]);

#endif
