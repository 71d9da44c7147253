/* core/float.h - shortest decimal text of floats that reads back as the same bits.
 *
 * Independent of the process's locale: no text with a decimal point passes through libc. */
#ifndef CULEX_CORE_FLOAT_H
#define CULEX_CORE_FLOAT_H

#include <stdbool.h>
#include <stddef.h>

/* Room for the longest text, without a NUL. */
enum { CULEX_FLOAT_TEXT_MAX = 32 };

/* Write the JSON number for a finite `value`, no NUL, and return its length. Plain decimal
 * from 1e-6 to below 1e21, else with an exponent: "0.1", "3", "-0", "1e21", "5e-324". */
size_t culex__float64_format(double value, char *ret_text);
size_t culex__float32_format(float value, char *ret_text);

/* Read a JSON number, already checked against its grammar, rounding to nearest. False when
 * it is too large for the type; too small becomes zero. */
bool culex__float64_parse(const char *text, size_t len, double *ret_value);
bool culex__float32_parse(const char *text, size_t len, float *ret_value);

#endif
