/* core/chain.h - what a run of a chain carries in its payload: the steps that are still to come.
 *
 * They are a member of the outermost object, ["shop.resize","shop.announce"] under the name
 * below: the names that the jobs have in a store, at most CULEX_CHAIN_STEPS_MAX - 1. The run of the
 * last step has none. Who does not know the member must not run the job, for the chain would end
 * there and nobody would notice; the '!' says so to programs that are older. */
#ifndef CULEX_CORE_CHAIN_H
#define CULEX_CORE_CHAIN_H

#include <culex/codec.h>

#define CULEX_CHAIN_NAME "culex.chain" /* behind the '!' */

struct culex_rest {
    const char *const *steps;
    size_t count; /* 0: the run is of no chain, or its last step */
};

/* Puts `rest` into the payload that ends the text; nothing for no steps. CULEX_ELIMIT when that has
 * no room for it. */
culex_status culex__rest_append(struct culex_rest rest, culex_buf *text, culex_error *error);

/* Fills params of the type `to` from a result of the type `from`, both within one program: what has
 * the same name goes from one to the other. *ret_params is zeroed before. CULEX_EENCODE: a result
 * of this kind does not fit these params; `error` names the param. */
culex_status culex__result_to_params(const culex_struct_type *from, const void *result,
                                     const culex_struct_type *to, void *ret_params,
                                     culex_error *error);

#endif
