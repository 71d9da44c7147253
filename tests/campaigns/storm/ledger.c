#include "ledger.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int64_t ledger_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void line_append(const char *folder, const char *name, const char *line, size_t len)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, line, len) != (ssize_t)len) {
        perror(path);
        abort();
    }
    close(fd);
}

void ledger_write(const char *folder, const char *name, const char *format, ...)
{
    char line[LEDGER_LINE_MAX] = "\n";
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(line + 1, sizeof line - 4, format, arguments);
    va_end(arguments);
    if (len < 0 || (size_t)len >= sizeof line - 4)
        abort();
    line[len + 1] = ' ';
    line[len + 2] = '.';
    line_append(folder, name, line, (size_t)len + 3);
}
