/* Fixes of the linter: what they make of a schema has nothing more to fix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "buf.h"
#include "lint.h"

/* The text with all fixes applied; they are in order and do not overlap. */
static struct buf fixes_apply(const char *text, unsigned *ret_count)
{
    struct compilation compilation;
    struct buf fixed = {0};
    size_t at = 0;
    *ret_count = 0;
    compilation_init(&compilation);
    struct module *module = compilation_load_text(&compilation, "fix.job", text, strlen(text));
    check_module(&compilation, module);
    assert_int_equal(compilation.sink.errors, 0);
    lint_module(&compilation, module, ~0u, NULL);
    diag_sort(&compilation.sink);
    for (const struct diag *diag = compilation.sink.first; diag != NULL; diag = diag->next) {
        for (const struct diag_fix *fix = diag->fixes; fix != NULL; fix = fix->next) {
            assert_true(fix->span.offset >= at);
            buf_append(&fixed, text + at, fix->span.offset - at);
            buf_text(&fixed, fix->text);
            at = fix->span.offset + fix->span.length;
            (*ret_count)++;
        }
    }
    buf_text(&fixed, text + at);
    compilation_release(&compilation);
    return fixed;
}

static void test_secret__is_marked(void **state)
{
    unsigned count;
    struct buf fixed = fixes_apply("job j { params {\n"
                                   "    string password; bytes token [[ nonempty]] = x\"00\";\n"
                                   "    string tokens[]; optional string api_key;\n"
                                   "} }\n",
                                   &count);
    assert_int_equal(count, 3);
    assert_string_equal(
        fixed.data, "job j { params {\n"
                    "    string password [[secret]]; bytes token [[ secret, nonempty]] = x\"00\";\n"
                    "    string tokens[]; optional string api_key [[secret]];\n"
                    "} }\n");
    struct buf again = fixes_apply(fixed.data, &count);
    assert_int_equal(count, 0);
    buf_release(&again);
    buf_release(&fixed);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_secret__is_marked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
