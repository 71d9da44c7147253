/* check_scope.c - what a name means where it stands: this module and what it imports. */
#include "checker.h"

#include <string.h>

#include "suggest.h"

const char *checker_qualify(const struct checker *checker, const char *package, const char *name)
{
    return package == NULL
               ? name
               : arena_join(checker->arena, (const char *const[]){package, ".", name, NULL});
}

/* `qualified` in this module or in what it imports itself. */
static struct symbol *find_qualified(struct checker *checker, const char *qualified)
{
    struct symbol *symbol = map_get(&checker->module->symbols, qualified);
    for (struct module_import *at = checker->module->imports; symbol == NULL && at != NULL;
         at = at->next) {
        symbol = map_get(&at->module->symbols, qualified);
        at->is_used |= symbol != NULL;
        if (symbol != NULL)
            symbol->is_imported = true;
    }
    return symbol;
}

/* From the own package outward: in shop.mail, `lang` is shop.mail.lang, then shop.lang, then lang.
 * `.lang` is nothing but lang. */
struct symbol *checker_find(struct checker *checker, const char *name)
{
    if (name[0] == '.')
        return find_qualified(checker, name + 1);
    const char *package = checker->module->package;
    size_t len = package == NULL ? 0 : strlen(package);
    while (len > 0) {
        const char *prefix = arena_copy(checker->arena, package, len);
        struct symbol *symbol = find_qualified(checker, checker_qualify(checker, prefix, name));
        if (symbol != NULL)
            return symbol;
        while (len > 0 && package[len - 1] != '.')
            len--;
        len -= len > 0;
    }
    return find_qualified(checker, name);
}

struct symbol *checker_symbol(struct checker *checker, const struct ast_decl *decl)
{
    struct symbol *symbol =
        map_get(&checker->module->symbols,
                checker_qualify(checker, checker->module->package, decl->name.text));
    return symbol != NULL && symbol->decl == decl ? symbol : NULL;
}

static void offer_module(struct suggestion *suggestion, const struct checker *checker,
                         const struct module *module, bool is_type)
{
    bool is_near = module->package != NULL && checker->module->package != NULL &&
                   strcmp(module->package, checker->module->package) == 0;
    for (const struct ast_decl *decl = module->ast->decls; decl != NULL; decl = decl->next) {
        bool is_wanted = is_type ? decl->kind == DECL_ENUM || decl->kind == DECL_STRUCT ||
                                       decl->kind == DECL_TYPE
                                 : decl->kind == DECL_POLICY;
        if (!is_wanted)
            continue;
        const char *qualified = checker_qualify(checker, module->package, decl->name.text);
        if (suggestion->word[0] == '.') {
            suggestion_offer(suggestion, arena_join(checker->arena,
                                                    (const char *const[]){".", qualified, NULL}));
            continue;
        }
        suggestion_offer(suggestion, is_near ? decl->name.text : qualified);
        suggestion_offer(suggestion, decl->name.text);
        if (suggestion->best == decl->name.text && !is_near)
            suggestion->best = qualified;
        suggestion->is_doubtful |=
            suggestion->best == qualified || suggestion->best == decl->name.text;
    }
}

struct suggestion checker_suggest(struct checker *checker, const char *name, bool is_type)
{
    struct suggestion suggestion = suggestion_start(name);
    if (checker->sink->is_full) /* The report is not shown, and a suggestion looks at all names. */
        return suggestion;
    for (int kind = 0; is_type && kind < IR_ENUM; kind++)
        suggestion_offer(&suggestion, ir_kinds[kind].word);
    if (!is_type)
        suggestion_offer(&suggestion, "none");
    offer_module(&suggestion, checker, checker->module, is_type);
    for (const struct module_import *at = checker->module->imports; at != NULL; at = at->next)
        offer_module(&suggestion, checker, at->module, is_type);
    suggestion.is_doubtful |= !is_type || checker->module->is_broken;
    return suggestion;
}
