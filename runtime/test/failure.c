#include "test/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/kit.h"

static void text_add(culex_test *test, const char *format, va_list list)
{
    size_t used = strlen(test->text);
    vsnprintf(test->text + used, sizeof test->text - used, format, list);
}

bool culex__test_fail(culex_test *test, const char *format, ...)
{
    va_list list;
    if (test == NULL)
        return false;
    test->text[0] = '\0';
    va_start(list, format);
    text_add(test, format, list);
    va_end(list);
    return false;
}

void culex__test_owe(culex_test *test, const char *format, ...)
{
    va_list list;
    if (test->owed[0] != '\0')
        return;
    va_start(list, format);
    vsnprintf(test->owed, sizeof test->owed, format, list);
    va_end(list);
}

bool culex__test_begin(culex_test *test)
{
    if (test == NULL || test->owed[0] == '\0')
        return test != NULL;
    culex__test_fail(test, "%s", test->owed);
    test->owed[0] = '\0';
    return false;
}

void culex__test_add(culex_test *test, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    text_add(test, format, list);
    va_end(list);
}

static void failure_default(void *user, const char *file, int line, const char *text)
{
    (void)user;
    fflush(stdout);
    fprintf(stderr, "%s:%d: %s\n", file, line, text);
    abort();
}

void culex_test_on_failure(culex_test *test, culex_test_failure failure, void *user)
{
    if (test == NULL)
        return;
    test->failure = failure;
    test->failure_user = user;
}

culex_test_failure culex_test_failure_of(const culex_test *test, void **ret_user)
{
    bool has_own = test != NULL && test->failure != NULL;
    if (ret_user != NULL)
        *ret_user = has_own ? test->failure_user : NULL;
    return has_own ? test->failure : failure_default;
}

const char *culex_test_text(const culex_test *test)
{
    return test != NULL ? test->text : "no test kit: NULL was given for it";
}
