/* fuzz.h - what every fuzz target has. One file is one target: libFuzzer runs it with
 * -Dfuzz=true, fuzz_main.c replays its corpus otherwise. */
#ifndef CULEX_TEST_FUZZ_H
#define CULEX_TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Tries one input; a fault is a crash. Always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Inputs that were found good so far: shows that a corpus gets past the first check. */
extern unsigned fuzz_taken;

#endif
