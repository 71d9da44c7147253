/* suite/cases.h - declares what cases.def lists. */
#ifndef CULEX_SUITE_CASES_H
#define CULEX_SUITE_CASES_H

struct suite;

#define CASE(name) void case_##name(struct suite *suite);
#include "cases.def"
#undef CASE

#endif
