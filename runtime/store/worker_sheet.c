#include "store/worker_sheet.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- writing ------------------------------------------------------------------------------- */

struct sheet {
    char *text;
    size_t len;
};

/* Adds a line, or nothing when it does not fit. */
__attribute__((format(printf, 2, 3))) static bool line_add(struct sheet *sheet, const char *format,
                                                           ...)
{
    char line[1024];
    va_list list;
    va_start(list, format);
    int len = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (len < 0 || (size_t)len >= sizeof line ||
        sheet->len + (size_t)len + 1 > CULEX_STORE_SHEET_MAX)
        return false;
    memcpy(sheet->text + sheet->len, line, (size_t)len);
    for (size_t i = sheet->len; i < sheet->len + (size_t)len; i++) {
        if (sheet->text[i] == '\n') /* in a host's name, for instance */
            sheet->text[i] = '?';
    }
    sheet->len += (size_t)len;
    sheet->text[sheet->len++] = '\n';
    return true;
}

static void lists_add(struct sheet *sheet, const culex_worker_info *info)
{
    bool fits = true;
    for (size_t i = 0; i < info->queue_count && fits && i < CULEX_SHEET_LIST_MAX; i++)
        fits = line_add(sheet, "q %u %u %s", info->queues[i].weight, info->queues[i].most,
                        info->queues[i].name);
    fits = true;
    for (size_t i = 0; i < info->run_count && fits && i < CULEX_SHEET_LIST_MAX; i++) {
        char id[CULEX_UUID_TEXT_SIZE];
        culex_uuid_format(info->runs[i].id, id);
        fits = line_add(sheet, "r %s %" PRId64 " %s %s", id, info->runs[i].since_ms,
                        info->runs[i].queue, info->runs[i].job);
    }
}

size_t culex__sheet_write(const culex_worker_info *info, char ret_sheet[CULEX_STORE_SHEET_MAX])
{
    struct sheet sheet = {.text = ret_sheet};
    line_add(&sheet, "n %s", info->name);
    line_add(&sheet, "h %s", info->host);
    line_add(&sheet, "v %s", info->version);
    line_add(&sheet, "i %s", info->isolation);
    if (info->offers[0] != '\0')
        line_add(&sheet, "o %s", info->offers);
    line_add(&sheet, "p %" PRId64 " %" PRId64, info->pid, info->started_ms);
    line_add(&sheet, "c %u %d %d", info->concurrency, info->is_quiet, info->is_stopping);
    line_add(&sheet, "m %" PRId64 " %" PRId64, info->memory_bytes, info->children_bytes);
    line_add(&sheet, "e %" PRIu64 " %" PRIu64, info->done, info->failed);
    line_add(&sheet, "t %zu %zu", info->queues_total, info->runs_total);
    lists_add(&sheet, info);
    return sheet.len;
}

/* --- reading ------------------------------------------------------------------------------- */

/* The next number of the line, 0 where there is none; goes behind the blank after it. */
static int64_t number_take(char **line)
{
    char *end;
    int64_t number = strtoll(*line, &end, 10);
    *line = end + (*end == ' ');
    return number;
}

static int64_t count_take(char **line)
{
    int64_t number = number_take(line);
    return number > 0 ? number : 0;
}

static unsigned small_take(char **line)
{
    int64_t number = count_take(line);
    return number < UINT32_MAX ? (unsigned)number : UINT32_MAX;
}

/* The next word. */
static const char *word_take(char **line)
{
    const char *word = *line;
    *line += strcspn(*line, " ");
    if (**line != '\0')
        *(*line)++ = '\0';
    return word;
}

static void queue_read(struct culex_sheet *sheet, char *line)
{
    if (sheet->info.queue_count == CULEX_SHEET_LIST_MAX)
        return;
    culex_queue_served *queue = &sheet->queues[sheet->info.queue_count++];
    queue->weight = small_take(&line);
    queue->most = small_take(&line);
    queue->name = line;
}

static int64_t instant(const struct culex_worker_info *info, int64_t offset_ms)
{
    bool is_likely = offset_ms <= 0 && offset_ms > -info->told_ms;
    return is_likely ? info->told_ms + offset_ms : info->told_ms;
}

static void run_read(struct culex_sheet *sheet, char *line)
{
    culex_run_at_work run;
    if (sheet->info.run_count == CULEX_SHEET_LIST_MAX ||
        !culex_uuid_parse(word_take(&line), &run.id))
        return;
    run.since_ms = instant(&sheet->info, number_take(&line));
    run.queue = word_take(&line);
    run.job = line;
    sheet->runs[sheet->info.run_count++] = run;
}

static void numbers_read(culex_worker_info *info, char letter, char *line)
{
    switch (letter) {
    case 'p':
        info->pid = count_take(&line);
        info->started_ms = instant(info, number_take(&line));
        break;
    case 'c':
        info->concurrency = small_take(&line);
        info->is_quiet = number_take(&line) != 0;
        info->is_stopping = number_take(&line) != 0;
        break;
    case 'm':
        info->memory_bytes = count_take(&line);
        info->children_bytes = count_take(&line);
        break;
    case 'e':
        info->done = (uint64_t)count_take(&line);
        info->failed = (uint64_t)count_take(&line);
        break;
    case 't':
        info->queues_total = (size_t)count_take(&line);
        info->runs_total = (size_t)count_take(&line);
        break;
    default: /* of a version that knows more */
        break;
    }
}

static void line_read(struct culex_sheet *sheet, char *line)
{
    char letter = line[0];
    if (letter == '\0' || line[1] != ' ')
        return;
    line += 2;
    if (letter == 'n')
        sheet->info.name = line;
    else if (letter == 'h')
        sheet->info.host = line;
    else if (letter == 'v')
        sheet->info.version = line;
    else if (letter == 'i')
        sheet->info.isolation = line;
    else if (letter == 'o')
        sheet->info.offers = line;
    else if (letter == 'q')
        queue_read(sheet, line);
    else if (letter == 'r')
        run_read(sheet, line);
    else
        numbers_read(&sheet->info, letter, line);
}

void culex__sheet_read(const struct culex_worker_row *row, struct culex_sheet *ret_sheet)
{
    size_t len = row->sheet_len < CULEX_STORE_SHEET_MAX ? row->sheet_len : CULEX_STORE_SHEET_MAX;
    bool is_pending = row->wish.number != 0 && row->wish.number != row->heard;
    ret_sheet->info = (culex_worker_info){.id = row->id,
                                          .name = "",
                                          .host = "",
                                          .version = "",
                                          .isolation = "",
                                          .offers = "",
                                          .started_ms = row->told_ms,
                                          .told_ms = row->told_ms,
                                          .concurrency = row->concurrency,
                                          .concurrency_max = row->concurrency,
                                          .is_pending = is_pending,
                                          .queues = ret_sheet->queues,
                                          .runs = ret_sheet->runs};
    if (len > 0)
        memcpy(ret_sheet->text, row->sheet, len);
    ret_sheet->text[len] = '\0';
    for (char *line = ret_sheet->text, *end; line != NULL; line = end) {
        end = strchr(line, '\n');
        if (end != NULL)
            *end++ = '\0';
        line_read(ret_sheet, line);
    }
}
