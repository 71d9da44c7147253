/* What generated code needs of <math.h>, for machines without the headers of 32-bit C. */
#ifndef CULEX_TEST_MATH_H
#define CULEX_TEST_MATH_H
#define NAN      (__builtin_nanf(""))
#define INFINITY (__builtin_inff())
#endif
