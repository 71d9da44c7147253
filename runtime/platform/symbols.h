/* platform/symbols.h - names for addresses of this program, or of a process forked from it. */
#ifndef CULEX_PLATFORM_SYMBOLS_H
#define CULEX_PLATFORM_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct culex_symbols;

/* Remembers what is loaded now: an address of a process that loaded more is not looked up. Returns
 * owned; NULL when out of memory, which the other functions accept. */
struct culex_symbols *culex__symbols_create(void);
void culex__symbols_free(struct culex_symbols *symbols);

/* Writes "send_email+0x12 (mail_worker)", "mail_worker+0x1234" without a name, or the bare address.
 * Names of C++ are shown as in the source, where the program has the C++ runtime as a library.
 * The program's own symbol table is read at the first call, so static functions have names
 * unless it is stripped; for libraries the dynamic linker is asked. True when it is in the
 * program or has a name. `size` at least 1. */
bool culex__symbols_describe(struct culex_symbols *symbols, uint64_t address, char *ret_text,
                             size_t size);

#endif
