#include "cname.h"

#include <assert.h>
#include <stdlib.h>
#include <stdlib.h>
#include <stddef.h>
#include <string.h>

#include "limits.h"

/* Words of C11, C23 and C++23, and of compilers in their default modes. */
static const char *const keywords[] = {"alignas",
                                       "alignof",
                                       "and",
                                       "and_eq",
                                       "asm",
                                       "auto",
                                       "bitand",
                                       "bitor",
                                       "bool",
                                       "break",
                                       "case",
                                       "catch",
                                       "char",
                                       "char16_t",
                                       "char32_t",
                                       "char8_t",
                                       "class",
                                       "co_await",
                                       "co_return",
                                       "co_yield",
                                       "compl",
                                       "concept",
                                       "const",
                                       "const_cast",
                                       "consteval",
                                       "constexpr",
                                       "constinit",
                                       "continue",
                                       "decltype",
                                       "default",
                                       "delete",
                                       "do",
                                       "double",
                                       "dynamic_cast",
                                       "else",
                                       "enum",
                                       "explicit",
                                       "export",
                                       "extern",
                                       "false",
                                       "float",
                                       "for",
                                       "friend",
                                       "goto",
                                       "if",
                                       "inline",
                                       "int",
                                       "long",
                                       "mutable",
                                       "namespace",
                                       "new",
                                       "noexcept",
                                       "not",
                                       "not_eq",
                                       "nullptr",
                                       "operator",
                                       "or",
                                       "or_eq",
                                       "private",
                                       "protected",
                                       "public",
                                       "register",
                                       "reinterpret_cast",
                                       "requires",
                                       "restrict",
                                       "return",
                                       "short",
                                       "signed",
                                       "sizeof",
                                       "static",
                                       "static_assert",
                                       "static_cast",
                                       "struct",
                                       "switch",
                                       "template",
                                       "this",
                                       "thread_local",
                                       "throw",
                                       "true",
                                       "try",
                                       "typedef",
                                       "typeid",
                                       "typename",
                                       "typeof",
                                       "typeof_unqual",
                                       "union",
                                       "unsigned",
                                       "using",
                                       "virtual",
                                       "void",
                                       "volatile",
                                       "wchar_t",
                                       "while",
                                       "xor",
                                       "xor_eq"};

#define C_MATH(name)
#define C_NAME(name)
#define C_CONSTANT(name)
/* `major` and `minor` take arguments where they are macros, and a member is never called, so they
 * are free. */
static const char *const library_constants[] = {
#undef C_CONSTANT
#define C_CONSTANT(name) #name,
#include "c_library.def"
#undef C_CONSTANT
#define C_CONSTANT(name)
};

static const char *const library_names[] = {
#undef C_NAME
#define C_NAME(name) #name,
#include "c_library.def"
#undef C_NAME
#define C_NAME(name)
};

static const char *const math_functions[] = {
#undef C_MATH
#define C_MATH(name) #name,
#include "c_library.def"
};

static const char *const math_suffixes[] = {"",    "f",    "l",    "f16",  "f32",
                                            "f64", "f128", "f32x", "f64x", "f128x"};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static int word_compare(const void *word, const void *item)
{
    return strcmp(word, *(const char *const *)item);
}

/* The tables are in the order of strcmp(). */
static bool is_in(const char *const *words, size_t count, const char *word)
{
    return bsearch(word, words, count, sizeof(*words), word_compare) != NULL;
}

static bool is_upper(char byte)
{
    return byte >= 'A' && byte <= 'Z';
}

static bool is_alnum(char byte)
{
    return is_upper(byte) || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
}

static char to_upper(char byte)
{
    return byte >= 'a' && byte <= 'z' ? (char)(byte - 'a' + 'A') : byte;
}

static char *join(struct arena *arena, const char *package, const char *name, const char *suffix)
{
    bool has_package = package != NULL;
    char *c = arena_join(arena, (const char *const[]){has_package ? package : "",
                                                      has_package ? "_" : "", name, suffix, NULL});
    for (char *at = c; *at != '\0'; at++)
        *at = *at == '.' ? '_' : *at;
    return c;
}

const char *cname_join(struct arena *arena, const char *package, const char *name,
                       const char *suffix)
{
    return join(arena, package, name, suffix);
}

const char *cname_upper(struct arena *arena, const char *package, const char *name,
                        const char *suffix)
{
    char *c = join(arena, package, name, suffix);
    char *end = c;
    for (const char *at = c; *at != '\0'; at++) {
        char byte = is_alnum(*at) ? to_upper(*at) : '_';
        if (byte != '_' || end == c || end[-1] != '_')
            *end++ = byte;
    }
    *end = '\0';
    return c;
}

const struct cname_row cname_rows[] = {
#define BLOCK_ALWAYS    0
#define BLOCK_RETURNING offsetof(struct ast_decl, returns)
#define BLOCK_KEEPING   offsetof(struct ast_decl, metadata)
#define NAME(owner, type, member, suffix, when, parameters)                                        \
    {suffix, DECL_##owner, BLOCK_##when, offsetof(struct type, member), parameters},
#include "cnames.def"
    {0},
};

bool cname_is_made(const struct cname_row *row, const struct ast_decl *decl)
{
    struct ast_fields block;
    if (row->owner != decl->kind || row->block == 0)
        return row->owner == decl->kind;
    memcpy(&block, (const char *)decl + row->block, sizeof(block));
    return block.span.source != NULL;
}

void cname_fill(struct arena *arena, const char *package, const struct ast_decl *decl, void *made)
{
    assert(decl->kind == DECL_ENUM || decl->kind == DECL_STRUCT || decl->kind == DECL_TYPE ||
           decl->kind == DECL_JOB || decl->kind == DECL_CHAIN);
    for (const struct cname_row *row = cname_rows; row->suffix != NULL; row++) {
        if (!cname_is_made(row, decl))
            continue;
        const char *c = cname_join(arena, package, decl->name.text, row->suffix);
        memcpy((char *)made + row->offset, &c, sizeof(c));
    }
}

const char *cname_setter(struct arena *arena, const char *c, const char *field)
{
    return arena_printf(arena, "%s_set_%s", c, field);
}

bool cname_check_shape(struct diag_sink *sink, const struct ast_name *name)
{
    const char *text = name->text;
    size_t len = strlen(text);
    if (len > LIMIT_NAME_BYTES) {
        diag_report(sink, DIAG_NAME_TOO_LONG, name->span, "a name has at most %u characters",
                    LIMIT_NAME_BYTES);
        return false;
    }
    if (text[0] != '_' && text[len - 1] != '_' && strstr(text, "__") == NULL)
        return true;
    diag_report(sink, DIAG_BAD_NAME, name->span, "'%s' begins, ends or doubles an underscore",
                text);
    diag_help(sink, "such names are reserved in C; use single underscores inside the name");
    return false;
}

static bool is_math_function(const char *c)
{
    size_t len = strlen(c);
    for (size_t i = 0; i < COUNT(math_suffixes); i++) {
        size_t end = strlen(math_suffixes[i]);
        if (len <= end || strcmp(c + len - end, math_suffixes[i]) != 0)
            continue;
        for (size_t at = 0; at < COUNT(math_functions); at++) {
            const char *name = math_functions[at];
            if (strlen(name) == len - end && memcmp(name, c, len - end) == 0)
                return true;
        }
    }
    return false;
}

/* Where constants of C libraries begin and end. */
static const char *const macro_starts[] = {"CLOCK_", "DBL_",  "EXIT_", "FLT_",  "FP_", "HUGE_VAL",
                                           "LC_",    "LDBL_", "M_",    "SEEK_", "SNAN"};
static const char *const macro_ends[] = {"_MAX", "_MIN", "_WIDTH", "_ENDIAN", "_FILENO"};

static bool is_library_constant(const char *c)
{
    size_t len = strlen(c);
    for (size_t i = 0; i < COUNT(macro_starts); i++) {
        if (strncmp(c, macro_starts[i], strlen(macro_starts[i])) == 0)
            return true;
    }
    for (size_t i = 0; i < COUNT(macro_ends); i++) {
        size_t end = strlen(macro_ends[i]);
        if (is_upper(c[0]) && len > end && strcmp(c + len - end, macro_ends[i]) == 0)
            return true;
    }
    return (strncmp(c, "PRI", 3) == 0 || strncmp(c, "SCN", 3) == 0) && len > 4 && !is_upper(c[3]);
}

/* Whole families that C reserves: errno constants, signals, limits, fixed types. */
static bool is_reserved_family(const char *c)
{
    size_t len = strlen(c);
    if (c[0] == 'E' && is_upper(c[1]))
        return strspn(c, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == len;
    if (strncmp(c, "SIG", 3) == 0 && is_upper(c[3]))
        return true;
    return is_library_constant(c) ||
           (len > 2 && strcmp(c + len - 2, "_t") == 0 &&
            (strncmp(c, "int", 3) == 0 || strncmp(c, "uint", 4) == 0 || strcmp(c, "size_t") == 0 ||
             strcmp(c, "ssize_t") == 0 || strcmp(c, "ptrdiff_t") == 0 || strcmp(c, "time_t") == 0 ||
             strcmp(c, "off_t") == 0 || strcmp(c, "va_list") == 0));
}

static const char *owner_find(const char *c, enum cname_scope scope)
{
    size_t len = strlen(c);
    if (is_in(keywords, COUNT(keywords), c))
        return "a keyword of C or C++";
    if (is_in(library_constants, COUNT(library_constants), c))
        return "a name of the C library";
    if (strncmp(c, "culex_", 6) == 0 || strncmp(c, "CULEX_", 6) == 0)
        return "a name of Culex itself";
    if (scope == CNAME_CONSTANT) /* Its package and enum stand in it, so no family is wide. */
        return NULL;
    if (is_reserved_family(c))
        return "a name of the C library";
    if (scope != CNAME_TYPE)
        return NULL;
    if (strcmp(c, "culex") == 0) /* a namespace in C++ */
        return "a name of Culex itself";
    if (is_in(library_names, COUNT(library_names), c) || is_math_function(c) ||
        (len > 2 && !strcmp(c + len - 2, "_t")))
        return "a name of the C library";
    return NULL;
}

bool cname_check_free(struct diag_sink *sink, const char *c, struct span span,
                      enum cname_scope scope)
{
    const char *owner = owner_find(c, scope);
    if (owner == NULL)
        return true;
    diag_report(sink, DIAG_RESERVED_NAME, span, "'%s' is %s", c, owner);
    if (scope != CNAME_FIELD)
        diag_help(sink, "another name or a package makes another C name");
    return false;
}

const char *cname_macro_owner(const char *c)
{
    size_t len = strlen(c);
    if (c[0] == '_' || strcmp(c, "defined") == 0)
        return "reserved in C";
    if (is_in(library_names, COUNT(library_names), c) || is_math_function(c) ||
        (len > 2 && strcmp(c + len - 2, "_t") == 0))
        return "a name of the C library";
    return owner_find(c, CNAME_CONSTANT);
}

struct claim {
    struct span span;
    const char *schema_name;
};

bool cname_is_claimed_in(const struct map *scope, const char *c, const struct source *source)
{
    const struct claim *claim = map_get(scope, c);
    return claim != NULL && claim->span.source == source;
}

void cname_claim(struct map *scope, struct diag_sink *sink, const char *c, struct span span,
                 const char *schema_name)
{
    struct claim *claim = arena_alloc(scope->arena, sizeof(*claim));
    *claim = (struct claim){span, schema_name};
    const struct claim *holder = map_add(scope, c, claim);
    if (holder == NULL)
        return;
    bool is_same = strcmp(schema_name, holder->schema_name) == 0;
    if (is_same && holder->span.source == span.source)
        return; /* Declared twice, which is reported as that. */
    if (is_same)
        diag_report(sink, DIAG_C_NAME_COLLISION, span,
                    "another file has '%s' too, and both need the C name '%s'", schema_name, c);
    else
        diag_report(sink, DIAG_C_NAME_COLLISION, span, "'%s' and '%s' both need the C name '%s'",
                    schema_name, holder->schema_name, c);
    if (is_same)
        diag_help(sink, "rename one of them, or put the files into different packages");
    if (holder->span.source != NULL)
        diag_note(sink, holder->span, "'%s' is here", holder->schema_name);
}
