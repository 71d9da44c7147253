/* check_needs.c - what a worker must offer for a job's runs. */
#include "checker.h"

#include <string.h>

#include "core/needs.h"
#include "limits.h"

/* Into its place: however a schema lists them, the text in the store is the same. */
static void need_add(struct setting_check *check, struct ir_need *need)
{
    struct diag_sink *sink = check->checker->sink;
    struct ir_need **at = &check->settings->needs;
    unsigned count = 1;
    for (const struct ir_need *other = *at; other != NULL; other = other->next)
        count++;
    while (*at != NULL && strcmp((*at)->name, need->name) < 0)
        at = &(*at)->next;
    if (*at != NULL && strcmp((*at)->name, need->name) == 0) {
        diag_report(sink, DIAG_DUPLICATE_NEED, need->setting->span, "the job needs '%.64s' twice",
                    need->name);
        diag_note(sink, (*at)->setting->span, "the first is here");
        return;
    }
    if (count == LIMIT_NEEDS + 1)
        diag_report(sink, DIAG_TOO_MANY, need->setting->span, "a job needs at most %u things",
                    LIMIT_NEEDS);
    need->next = *at;
    *at = need;
}

void check_needs(struct setting_check *check, const struct ast_setting *setting)
{
    struct checker *checker = check->checker;
    const struct ast_need *from = &setting->need;
    int64_t units = check_number(checker, &from->units, 1, LIMIT_NEED_UNITS, "what a run needs");
    if (from->name.kind != LITERAL_STRING)
        return;
    if (!culex__need_name_is_valid(from->name.text, strlen(from->name.text))) {
        diag_report(checker->sink, DIAG_BAD_NEED, from->name.span,
                    "what is needed has a name of 1 to %u of a to z, 0 to 9, '_' and '-'",
                    LIMIT_NEED_NAME);
        return;
    }
    struct ir_need *need = arena_alloc(checker->arena, sizeof(*need));
    *need = (struct ir_need){.name = from->name.text, .units = units, .setting = setting};
    need_add(check, need);
}
