/* handler/run_list.h - runs in a row, linked through their `next`: a run is in one list at most.
 *
 * All zero is an empty list. A list owns its runs; whoever takes one out owns it then. */
#ifndef CULEX_HANDLER_RUN_LIST_H
#define CULEX_HANDLER_RUN_LIST_H

#include <assert.h>

#include "handler/run.h"

struct culex_run_list {
    struct culex_run *first;
    struct culex_run *last;
    size_t count;
};

static inline bool culex__run_list_is_sound(const struct culex_run_list *list)
{
    return (list->first == NULL) == (list->count == 0) &&
           (list->last == NULL) == (list->count == 0) &&
           (list->last == NULL || list->last->next == NULL);
}

/* The run is in no list. */
static inline void culex__run_list_push(struct culex_run_list *list, struct culex_run *run)
{
    assert(!run->is_listed && culex__run_list_is_sound(list));
    run->is_listed = true;
    run->next = NULL;
    if (list->last != NULL)
        list->last->next = run;
    else
        list->first = run;
    list->last = run;
    list->count++;
}

static inline void culex__run_list_push_front(struct culex_run_list *list, struct culex_run *run)
{
    assert(!run->is_listed && culex__run_list_is_sound(list));
    run->is_listed = true;
    run->next = list->first;
    list->first = run;
    if (list->last == NULL)
        list->last = run;
    list->count++;
}

static inline struct culex_run *culex__run_list_pop(struct culex_run_list *list)
{
    struct culex_run *run = list->first;
    if (run == NULL)
        return NULL;
    assert(run->is_listed && culex__run_list_is_sound(list));
    list->first = run->next;
    if (list->first == NULL)
        list->last = NULL;
    list->count--;
    run->is_listed = false;
    return run;
}

static inline bool culex__run_list_remove(struct culex_run_list *list, struct culex_run *run)
{
    struct culex_run_list kept = {0};
    bool is_found = false;
    for (struct culex_run *at; (at = culex__run_list_pop(list)) != NULL;) {
        if (at == run)
            is_found = true;
        else
            culex__run_list_push(&kept, at);
    }
    *list = kept;
    return is_found;
}

static inline void culex__run_list_free(struct culex_run_list *list)
{
    for (struct culex_run *run; (run = culex__run_list_pop(list)) != NULL;)
        culex__run_free(run);
}

#endif
