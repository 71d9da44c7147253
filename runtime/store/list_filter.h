/* store/list_filter.h - what a filter says, and whether it takes a run: for who looks at runs in
 * this process. */
#ifndef CULEX_STORE_LIST_FILTER_H
#define CULEX_STORE_LIST_FILTER_H

#include "store/store.h"

/* CULEX_EINVAL for what no run can have (store/argument.c). `filter` is not NULL. */
culex_status culex__filter_check(const culex_list_filter *filter, culex_error *error);

/* The one state that the filter names, CULEX_LIST_ANY when it names none or several. */
culex_run_state culex__filter_state(const culex_list_filter *filter);

bool culex__filter_has_state(const culex_list_filter *filter, culex_run_state state);

/* The first ms that is taken, and the first behind that is not; 0 and CULEX_FILTER_END_MS for no
 * bound. */
#define CULEX_FILTER_END_MS INT64_C(10000000000000)
int64_t culex__filter_since_ms(const culex_list_filter *filter);
int64_t culex__filter_before_ms(const culex_list_filter *filter);

/* But for its state. Texts may be NULL, as "". */
bool culex__filter_takes(const culex_list_filter *filter, const char *job, const char *tags,
                         const char *error_text, int64_t created_at_ms);

#endif
