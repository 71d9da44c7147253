#include "client/enqueue_gate.h"

#include <string.h>

#include "base/error.h"
#include "client/client_private.h"
#include "core/end_text.h"

/* --- the call ------------------------------------------------------------------------------ */

void culex__enqueue_draft_make(struct culex_enqueue_draft *draft, const culex_job_type *type,
                               const culex_enqueue_options *options)
{
    draft->type = type;
    draft->options = options != NULL ? *options : culex_enqueue_options_make();
    draft->used = 0;
}

/* What the caller is told, who goes by the status: an enqueue that is unknown may be in the store.
 */
static culex_status refusal_tell(const culex_enqueue_call *call, culex_status status,
                                 const culex_error *why, culex_error *error)
{
    bool is_status = (int)status < CULEX_OK && status >= CULEX_ENOKEY && status != CULEX_EUNKNOWN;
    return culex__fail(error, is_status ? status : CULEX_EINVAL,
                       "the enqueue hook refuses job %s: %s", call->type->name,
                       why->text[0] != '\0' ? why->text : CULEX__NO_REASON_TEXT);
}

/* A repeat in another queue, which has not seen the ticket, would make a second run. */
static culex_status queue_check(const culex_enqueue_options *before,
                                const struct culex_enqueue_draft *draft, culex_error *error)
{
    const char *usual = culex__job_queue(draft->type);
    const char *own = before->queue != NULL ? before->queue : usual;
    const char *queue = draft->options.queue != NULL ? draft->options.queue : usual;
    if (!before->has_ticket || strcmp(own, queue) == 0)
        return CULEX_OK;
    return culex__fail(error, CULEX_EINVAL,
                       "the enqueue hook sends job %s to queue '%.*s', and the call has a ticket, "
                       "which is known in one queue: where it repeats a call that the hook has "
                       "sent there, set options.queue to that",
                       draft->type->name, CULEX_QUEUE_NAME_MAX, queue);
}

culex_status culex__enqueue_gate_pass(const struct culex_enqueue_gate *gate,
                                      culex_enqueue_call *call, culex_error *error)
{
    culex_error why = {0};
    struct culex_enqueue_draft *draft = call->draft;
    const culex_enqueue_options before = draft->options;
    culex_status status = gate->call != NULL ? gate->call(gate->hook, call, gate->user, &why)
                                             : gate->hook(call, gate->user, &why);
    if (status != CULEX_OK)
        return refusal_tell(call, status, &why, error);
    draft->options.has_ticket = before.has_ticket;
    draft->options.ticket = before.ticket;
    draft->options.ret_outcomes = before.ret_outcomes;
    return queue_check(&before, draft, error);
}

/* --- tags ---------------------------------------------------------------------------------- */

static bool has_tag(const culex_enqueue_options *options, const char *tag)
{
    bool is_found = false;
    for (size_t i = 0; i < options->tag_count && !is_found; i++)
        is_found = strcmp(options->tags[i], tag) == 0;
    return is_found;
}

/* Makes the tags that the runs have anyway the draft's own. */
static culex_status tags_adopt(struct culex_enqueue_draft *draft, culex_error *error)
{
    culex_enqueue_options *options = &draft->options;
    char joined[CULEX_TAGS_SIZE];
    bool is_theirs = options->tag_count > 0;
    const char *const *tags = is_theirs ? options->tags : draft->type->tags;
    size_t count = is_theirs ? options->tag_count : draft->type->tag_count;
    culex_status status = culex__tags_join(tags, count, joined, error);
    if (status != CULEX_OK)
        return status;
    if (count > 0)
        memmove(draft->tags, tags, count * sizeof *tags);
    options->tags = count > 0 ? draft->tags : NULL;
    options->tag_count = count;
    return CULEX_OK;
}

static culex_status tag_add(struct culex_enqueue_draft *draft, const char *tag, culex_error *error)
{
    size_t size = strlen(tag) + 1;
    if (draft->options.tag_count == CULEX_TAGS_MAX || size > sizeof draft->texts - draft->used)
        return culex__fail(error, CULEX_ELIMIT, "a run has at most %d tags: '%s' is one more",
                           CULEX_TAGS_MAX, tag);
    draft->tags[draft->options.tag_count++] = memcpy(draft->texts + draft->used, tag, size);
    draft->options.tags = draft->tags;
    draft->used += size;
    return CULEX_OK;
}

culex_status culex_enqueue_tag(culex_enqueue_call *call, const char *tag, culex_error *error)
{
    char joined[CULEX_TAGS_SIZE];
    if (call == NULL || tag == NULL)
        return culex__fail(error, CULEX_EINVAL, "no call to tag, or no tag");
    if (call->draft == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           "this call is none that an enqueue hook was given, nor a copy of one");
    culex_status status = culex__tags_join(&tag, 1, joined, error);
    if (status == CULEX_OK)
        status = tags_adopt(call->draft, error);
    if (status != CULEX_OK || has_tag(&call->draft->options, tag))
        return status;
    return tag_add(call->draft, tag, error);
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
