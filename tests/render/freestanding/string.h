/* What generated code needs of <string.h>, for machines without the headers of 32-bit C. */
#ifndef CULEX_TEST_STRING_H
#define CULEX_TEST_STRING_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
void *memset(void *to, int byte, size_t size);
void *memcpy(void *to, const void *from, size_t size);
#ifdef __cplusplus
}
#endif
#endif
