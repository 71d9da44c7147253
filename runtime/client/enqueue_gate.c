#include "client/enqueue_gate.h"

#include <string.h>

#include "base/error.h"
#include "client/client_private.h"

/* --- the call ------------------------------------------------------------------------------ */

static void draft_make(struct culex_enqueue_draft *draft, const culex_enqueue_call *call)
{
    draft->call = *call;
    draft->options = call->options != NULL ? *call->options : culex_enqueue_options_make();
    draft->call.options = &draft->options;
    draft->used = 0;
}

/* What the caller is told, who goes by the status: an enqueue that is unknown may be in the store.
 */
static culex_status refusal_tell(const culex_enqueue_call *call, culex_status status,
                                 const culex_error *why, culex_error *error)
{
    bool is_status = (int)status < CULEX_OK && status >= CULEX_EOVER && status != CULEX_EUNKNOWN;
    return culex__fail(error, is_status ? status : CULEX_EINVAL,
                       "the enqueue hook refuses job %s: %s", call->type->name,
                       why->text[0] != '\0' ? why->text : "it gave no reason");
}

culex_status culex__enqueue_gate_pass(const struct culex_enqueue_gate *gate,
                                      const culex_enqueue_call *call,
                                      struct culex_enqueue_draft *draft,
                                      const culex_enqueue_options **ret_options, culex_error *error)
{
    culex_error why = {0};
    draft_make(draft, call);
    const culex_enqueue_options before = draft->options;
    culex_status status = gate->call != NULL
                              ? gate->call(gate->hook, &draft->call, gate->user, &why)
                              : gate->hook(&draft->call, gate->user, &why);
    if (status != CULEX_OK)
        return refusal_tell(call, status, &why, error);
    draft->options.has_ticket = before.has_ticket;
    draft->options.ticket = before.ticket;
    draft->options.ret_outcomes = before.ret_outcomes;
    *ret_options = &draft->options;
    return CULEX_OK;
}

/* --- tags ---------------------------------------------------------------------------------- */

static bool has_tag(const culex_enqueue_options *options, const char *tag)
{
    bool is_found = false;
    for (size_t i = 0; i < options->tag_count && !is_found; i++)
        is_found = options->tags[i] != NULL && strcmp(options->tags[i], tag) == 0;
    return is_found;
}

/* Makes the tags that the runs have anyway the draft's own; false for too many. */
static bool tags_adopt(struct culex_enqueue_draft *draft)
{
    culex_enqueue_options *options = &draft->options;
    const culex_job_type *type = draft->call.type;
    const char *const *tags = options->tag_count > 0 ? options->tags : type->tags;
    size_t count = options->tag_count > 0 ? options->tag_count : type->tag_count;
    if (count > CULEX_TAGS_MAX)
        return false;
    if (count > 0 && tags != draft->tags)
        memcpy(draft->tags, tags, count * sizeof *tags);
    options->tags = count > 0 ? draft->tags : NULL;
    options->tag_count = count;
    return true;
}

culex_status culex_enqueue_tag(culex_enqueue_call *call, const char *tag, culex_error *error)
{
    struct culex_enqueue_draft *draft = (struct culex_enqueue_draft *)call;
    char joined[CULEX_TAGS_SIZE];
    if (call == NULL || tag == NULL)
        return culex__fail(error, CULEX_EINVAL, "no call to tag, or no tag");
    culex_status status = culex__tags_join(&tag, 1, joined, error);
    if (status != CULEX_OK)
        return status;
    if (!tags_adopt(draft))
        return culex__fail(error, CULEX_ELIMIT, "a run has at most %d tags", CULEX_TAGS_MAX);
    if (has_tag(&draft->options, tag))
        return CULEX_OK;
    size_t size = strlen(tag) + 1;
    if (draft->options.tag_count == CULEX_TAGS_MAX || size > sizeof draft->texts - draft->used)
        return culex__fail(error, CULEX_ELIMIT, "a run has at most %d tags: '%s' is one more",
                           CULEX_TAGS_MAX, tag);
    draft->tags[draft->options.tag_count++] = memcpy(draft->texts + draft->used, tag, size);
    draft->options.tags = draft->tags;
    draft->used += size;
    return CULEX_OK;
}

/* --- a client's ---------------------------------------------------------------------------- */

culex_status culex_client_on_enqueue(culex_client *client, culex_enqueue_hook hook, void *user,
                                     culex_error *error)
{
    return culex_client_on_enqueue_by(client, NULL, hook, user, error);
}

culex_status culex_client_on_enqueue_by(culex_client *client, culex_enqueue_hook_call call,
                                        culex_enqueue_hook hook, void *user, culex_error *error)
{
    if (client == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client");
    if (client->is_common)
        return culex__fail(error, CULEX_EUNSUPPORTED,
                           "all handlers share this client: culex_worker_on_enqueue, before the "
                           "worker runs, sets the hook of what they enqueue");
    if (!culex__client_is_ours(client))
        return culex__fail(error, CULEX_EINVAL, "this client was opened by process %ld",
                           (long)client->owner);
    client->gate = (struct culex_enqueue_gate){hook, call, user};
    return CULEX_OK;
}
