/* ctokens.c - says what clang's lexer makes of generated files.
 *
 *   ctokens < paths
 *
 * For each path on standard input it prints one line for each of these, and an empty line:
 *
 *   skeleton HASH   of the tokens in order, comments left out, texts reduced to their kind
 *   word WORD       each identifier and keyword, once
 *   wrong TEXT      a token that is not as generated code may have it
 *
 * Trigraphs are on, for they are what is hardest to get right. A text from a schema carries the
 * marker zqx; a marker in a token that is neither comment nor literal is wrong. */
#include <clang-c/Index.h>
#include <inttypes.h>
#include <search.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char marker[] = "zqx";

struct reading {
    CXTranslationUnit unit;
    CXToken *tokens;
    unsigned count;
    uint64_t skeleton;
    enum { ELSEWHERE, AFTER_CHAR, AFTER_COMMA } series;
    void *words; /* a tree of those already printed */
};

static int word_compare(const void *left, const void *right)
{
    return strcmp(left, right);
}

static void word_print(struct reading *reading, const char *word)
{
    if (tfind(word, &reading->words, word_compare) != NULL)
        return;
    tsearch(strdup(word), &reading->words, word_compare);
    printf("word %s\n", word);
}

static void wrong(const char *what, const char *spelling)
{
    printf("wrong %s: ", what);
    for (size_t i = 0; spelling[i] != '\0' && i < 80; i++)
        putchar(spelling[i] >= ' ' && spelling[i] <= '~' ? spelling[i] : '?');
    putchar('\n');
}

/* Past a tag such as 12k3, by which schemas of one shape keep their names apart. */
static const char *tag_skip(const char *text)
{
    size_t batch = strspn(text, "0123456789");
    if (batch == 0 || (text[batch] != 'k' && text[batch] != 'K'))
        return text;
    size_t turn = strspn(text + batch + 1, "0123456789");
    return turn == 0 ? text : text + batch + 1 + turn;
}

static void skeleton_hash(struct reading *reading, const char *text)
{
    for (const char *at = tag_skip(text); *at != '\0'; at = tag_skip(at + 1))
        reading->skeleton = (reading->skeleton ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    reading->skeleton *= UINT64_C(0x100000001b3); /* the end of a word counts */
}

/* Characters with commas between count as one: a long text is written so, whatever its length. */
static void skeleton_add(struct reading *reading, const char *text)
{
    bool is_char = strcmp(text, "char") == 0;
    bool is_comma = strcmp(text, ",") == 0;
    if (reading->series == AFTER_COMMA && !is_char)
        skeleton_hash(reading, ",");
    if (reading->series == AFTER_CHAR && is_comma) {
        reading->series = AFTER_COMMA;
        return;
    }
    if (reading->series != AFTER_COMMA || !is_char)
        skeleton_hash(reading, text);
    reading->series = is_char ? AFTER_CHAR : ELSEWHERE;
}

/* A backslash, also as a trigraph, that joins its line with the next; gcc sees blanks between. */
static bool has_splice(const char *text)
{
    for (const char *end = strchr(text, '\n'); end != NULL; end = strchr(end + 1, '\n')) {
        const char *last = end;
        while (last > text && strchr(" \t\v\f\r", last[-1]) != NULL)
            last--;
        if (last > text &&
            (last[-1] == '\\' || (last - text >= 3 && !strncmp(last - 3, "?\?/", 3))))
            return true;
    }
    return false;
}

/* One that starts and ends where it seems to, for every reader. */
static void comment_check(const char *text)
{
    size_t len = strlen(text);
    if (len < 4 || strncmp(text, "/*", 2) != 0 || strcmp(text + len - 2, "*/") != 0)
        wrong("comment without an end", text);
    else if (strstr(text + 2, "*/") != text + len - 2 || strstr(text + 2, "/*") != NULL)
        wrong("comment in a comment", text);
    else if (has_splice(text))
        wrong("spliced comment", text);
}

static bool is_text(const char *text)
{
    return text[0] == '"' || text[0] == '\'';
}

/* What is wrong with a string or character constant, or NULL. */
static const char *text_fault(const char *text)
{
    size_t len = strlen(text);
    if (len < 2 || text[len - 1] != text[0])
        return "text without an end";
    for (size_t i = 0; i < len; i++) {
        if (text[i] < ' ' || text[i] > '~')
            return "text with a byte that is not printed";
        if (text[i] == '?' && text[i + 1] == '?')
            return "trigraph";
        if (text[i] == '\\' && strspn(text + i + 1, "01234567") < 3)
            return "escape that is not three octal digits";
    }
    return NULL;
}

static void token_take(struct reading *reading, CXToken token)
{
    CXString string = clang_getTokenSpelling(reading->unit, token);
    const char *text = clang_getCString(string);
    CXTokenKind kind = clang_getTokenKind(token);
    if (kind == CXToken_Comment) {
        comment_check(text);
    } else if (kind == CXToken_Literal && is_text(text)) {
        if (text_fault(text) != NULL)
            wrong(text_fault(text), text);
        skeleton_add(reading, text[0] == '"' ? "string" : "char");
    } else {
        bool is_fingerprint = strncmp(text, "0x", 2) == 0 && strlen(text) == 18;
        if (strstr(text, marker) != NULL)
            wrong("text of the schema among the code", text);
        if (kind == CXToken_Identifier || kind == CXToken_Keyword)
            word_print(reading, text);
        skeleton_add(reading, is_fingerprint ? "fingerprint" : text);
    }
    clang_disposeString(string);
}

static CXSourceRange whole(CXTranslationUnit unit, const char *path)
{
    CXFile file = clang_getFile(unit, path);
    size_t size = 0;
    clang_getFileContents(unit, file, &size);
    return clang_getRange(clang_getLocationForOffset(unit, file, 0),
                          clang_getLocationForOffset(unit, file, (unsigned)size));
}

/* Nothing is included and no body is understood: what is wanted is the tokens of this very file. */
static void file_read(CXIndex index, const char *path)
{
    static const char *const options[] = {"-xc", "-std=c11", "-trigraphs", "-nostdinc"};
    struct reading reading = {.skeleton = UINT64_C(0xcbf29ce484222325)};
    reading.unit = clang_parseTranslationUnit(index, path, options, 4, NULL, 0,
                                              CXTranslationUnit_SkipFunctionBodies |
                                                  CXTranslationUnit_SingleFileParse);
    if (reading.unit == NULL) {
        wrong("cannot be read", path);
        return;
    }
    clang_tokenize(reading.unit, whole(reading.unit, path), &reading.tokens, &reading.count);
    if (reading.count == 0)
        wrong("has no tokens", path);
    for (unsigned i = 0; i < reading.count; i++)
        token_take(&reading, reading.tokens[i]);
    printf("skeleton %016" PRIx64 "\n", reading.skeleton);
    tdestroy(reading.words, free);
    clang_disposeTokens(reading.unit, reading.tokens, reading.count);
    clang_disposeTranslationUnit(reading.unit);
}

int main(void)
{
    char path[4096];
    CXIndex index = clang_createIndex(0, 0);
    while (fgets(path, sizeof(path), stdin) != NULL) {
        path[strcspn(path, "\n")] = '\0';
        file_read(index, path);
        putchar('\n');
        fflush(stdout);
    }
    clang_disposeIndex(index);
    return 0;
}
