/* ops/command/frame.c - the lines of `culex top`: a head, the queues, the workers, the keys. */
#include "command/frame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/print.h"
#include "command/shape.h"

void ops_top_free(struct ops_top *top)
{
    for (size_t i = 0; i < top->queue_count; i++)
        free(top->queues[i].view.name);
    for (size_t i = 0; i < top->worker_count; i++)
        free(top->workers[i].name);
    free(top->queues);
    free(top->workers);
    *top = (struct ops_top){.queues = NULL};
}

void ops_frame_free(struct ops_frame *frame)
{
    for (size_t i = 0; i < frame->count; i++)
        free(frame->of[i].text);
    free(frame->of);
    *frame = (struct ops_frame){.of = NULL};
}

/* --- short numbers -----------------------------------------------------------------------------
 */

enum { CELL = 32 };

/* Four digits at most: "9999", "12k", "3.4M". */
static void count_write(char text[CELL], uint64_t count)
{
    static const char units[] = {'k', 'M', 'G', 'T', 'P', 'E'};
    double shown = (double)count;
    size_t unit = 0;
    if (count < 10000) {
        snprintf(text, CELL, "%" PRIu64, count);
        return;
    }
    shown /= 1000;
    while (shown >= 1000) {
        shown /= 1000;
        unit++;
    }
    snprintf(text, CELL, "%.*f%c", shown < 10 ? 1 : 0, shown, units[unit]);
}

/* "350u", "1.2m", "35s", "12min", "2.0h", in five places. */
static void span_write(char text[CELL], int64_t us)
{
    char span[OPS_SPAN_SIZE], *blank;
    ops_span_format(us, span);
    blank = strchr(span, ' ');
    if (blank != NULL)
        memmove(blank, blank + 1, strlen(blank));
    snprintf(text, CELL, "%s", span);
}

static void rate_write(char text[CELL], double rate)
{
    if (rate < 0)
        strcpy(text, "-");
    else if (rate >= 1000)
        count_write(text, (uint64_t)rate);
    else
        snprintf(text, CELL, "%.*f", rate < 10 ? 1 : 0, rate);
}

/* --- the columns of queues ----------------------------------------------------------------------
 */

enum column {
    WAITING,
    OLDEST,
    ACTIVE,
    DEAD,
    DONE_RATE,
    FAILED_RATE,
    WAIT_50,
    WAIT_99,
    RUN_50,
    RUN_99,
    WORKERS,
    SCHEDULED,
    COLUMN_COUNT
};

/* In their order on the screen; `rank` is that in which they get room. */
static const struct {
    const char *name;
    size_t width;
    int rank;
} columns[COLUMN_COUNT] = {
    [WAITING] = {"WAIT", 5, 0},   [OLDEST] = {"OLDEST", 6, 1},    [ACTIVE] = {"WORK", 4, 3},
    [DEAD] = {"DEAD", 5, 2},      [DONE_RATE] = {"DONE/s", 6, 4}, [FAILED_RATE] = {"FAIL/s", 6, 5},
    [WAIT_50] = {"WAIT50", 6, 9}, [WAIT_99] = {"WAIT99", 6, 6},   [RUN_50] = {"RUN50", 5, 8},
    [RUN_99] = {"RUN99", 5, 7},   [WORKERS] = {"WRK", 3, 10},     [SCHEDULED] = {"SCHED", 5, 11},
};

enum { NAME_LEAST = 10, NAME_MOST = 32, MARK_LEAST = 16 };

static void cell_write(char text[CELL], const struct ops_top_queue *queue, enum column column)
{
    const culex_queue_stats *stats = &queue->view.stats;
    const culex_spread *wait = &queue->figures.wait, *run = &queue->figures.run;
    const int64_t spans[COLUMN_COUNT] = {[OLDEST] = queue->view.age_ms * 1000,
                                         [WAIT_50] = wait->count > 0 ? wait->p50_us : -1,
                                         [WAIT_99] = wait->count > 0 ? wait->p99_us : -1,
                                         [RUN_50] = run->count > 0 ? run->p50_us : -1,
                                         [RUN_99] = run->count > 0 ? run->p99_us : -1};
    const uint64_t counts[COLUMN_COUNT] = {[WAITING] = stats->count[CULEX_RUN_WAITING],
                                           [ACTIVE] = stats->count[CULEX_RUN_ACTIVE],
                                           [DEAD] = stats->count[CULEX_RUN_DEAD],
                                           [WORKERS] = queue->view.workers,
                                           [SCHEDULED] = stats->count[CULEX_RUN_SCHEDULED]};
    bool is_span = column == OLDEST || (column >= WAIT_50 && column <= RUN_99);
    strcpy(text, "-");
    if (column == DONE_RATE || column == FAILED_RATE)
        rate_write(text, column == DONE_RATE ? queue->done_rate : queue->failed_rate);
    else if (!is_span)
        count_write(text, counts[column]);
    else if (spans[column] >= 0)
        span_write(text, spans[column]);
}

/* How many columns have room beside a name of `NAME_LEAST`, by their ranks. */
static int ranks_fit(size_t width, size_t *ret_left)
{
    size_t used = NAME_LEAST;
    int rank = 0;
    for (; rank < COLUMN_COUNT; rank++) {
        size_t column = 0;
        while (columns[column].rank != rank)
            column++;
        if (used + 1 + columns[column].width > width)
            break;
        used += 1 + columns[column].width;
    }
    *ret_left = width > used ? width - used : 0;
    return rank;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Cut to `width` characters; `text` is harmless. */
static void line_add(struct ops_frame *frame, const struct ops_top_look *look, bool is_head,
                     const char *text)
{
    size_t left = look->width, len = 0;
    while (text[len] != '\0') {
        bool begins = ((unsigned char)text[len] & 0xc0) != 0x80;
        if (begins && left == 0)
            break;
        left -= begins;
        len++;
    }
    if (look->height > 0 && frame->count >= look->height)
        return;
    frame->of = ops_alloc(frame->of, (frame->count + 1) * sizeof *frame->of);
    frame->of[frame->count++] =
        (struct ops_frame_line){.text = ops_copy(text, len), .is_head = is_head};
}

/* Text of anybody's without control characters, in `width` places. */
static void harmless_write(FILE *out, const char *text, size_t width)
{
    char *made = NULL;
    size_t size = 0, len = 0;
    FILE *copy = open_memstream(&made, &size);
    if (copy == NULL)
        return;
    ops_print_text(copy, text, strlen(text), false, 0);
    fclose(copy);
    for (; made[len] != '\0'; len++) {
        bool begins = ((unsigned char)made[len] & 0xc0) != 0x80;
        if (begins && width == 0)
            break;
        width -= begins;
    }
    fwrite(made, 1, len, out);
    fprintf(out, "%*s", (int)width, "");
    free(made);
}

/* What a line is written into; ends it. */
struct line {
    char *text;
    size_t size;
    FILE *out;
};

static bool line_begin(struct line *line)
{
    *line = (struct line){.text = NULL};
    line->out = open_memstream(&line->text, &line->size);
    return line->out != NULL;
}

static void line_end(struct line *line, struct ops_frame *frame, const struct ops_top_look *look,
                     bool is_head)
{
    fclose(line->out);
    line_add(frame, look, is_head, line->text);
    free(line->text);
}

static void head_add(struct ops_frame *frame, const struct ops_top *top,
                     const struct ops_top_look *look)
{
    struct line line;
    char at[OPS_TIME_SIZE], span[OPS_SPAN_SIZE], dead_text[CELL];
    uint64_t dead = 0;
    size_t at_work = 0;
    for (size_t i = 0; i < top->queue_count; i++)
        dead += top->queues[i].view.stats.count[CULEX_RUN_DEAD];
    for (size_t i = 0; i < top->worker_count; i++)
        at_work += top->workers[i].at_work;
    if (!line_begin(&line))
        return;
    count_write(dead_text, dead);
    fprintf(line.out, "culex%s", look->is_paused ? " PAUSED" : "");
    if (look->late_ms > 0)
        fprintf(line.out, " SLOW STORE: no answer for %s",
                ops_span_format(look->late_ms * 1000, span));
    else if (look->failure[0] != '\0')
        fputs(" STORE FAILS", line.out);
    fprintf(line.out, "  %s  %zu queues, %s dead  %zu workers, %zu runs at work",
            top->now_ms != 0 ? ops_time_format(top->now_ms, at)
            : top->is_read   ? "(no queue)"
                             : "(nothing is read yet)",
            top->queue_count, dead_text, top->worker_count, at_work);
    line_end(&line, frame, look, true);
}

static void failure_add(struct ops_frame *frame, const struct ops_top_look *look)
{
    struct line line;
    if (!line_begin(&line))
        return;
    if (look->failure[0] != '\0')
        harmless_write(line.out, look->failure, strlen(look->failure));
    line_end(&line, frame, look, false);
}

static size_t name_width(size_t left)
{
    size_t width = NAME_LEAST + left;
    return width > NAME_MOST ? NAME_MOST : width;
}

static void queue_heads_add(struct ops_frame *frame, const struct ops_top_look *look)
{
    size_t left;
    int ranks = ranks_fit(look->width, &left);
    struct line line;
    if (!line_begin(&line))
        return;
    fprintf(line.out, "%-*s", (int)name_width(left), "QUEUE");
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (columns[i].rank < ranks)
            fprintf(line.out, " %*s", (int)columns[i].width, columns[i].name);
    }
    line_end(&line, frame, look, true);
}

static void queue_add(struct ops_frame *frame, const struct ops_top_queue *queue,
                      const struct ops_top_look *look)
{
    size_t left;
    int ranks = ranks_fit(look->width, &left);
    struct line line;
    char cell[CELL];
    if (!line_begin(&line))
        return;
    harmless_write(line.out, queue->view.name, name_width(left));
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (columns[i].rank >= ranks)
            continue;
        cell_write(cell, queue, (enum column)i);
        fprintf(line.out, " %*s", (int)columns[i].width, cell);
    }
    fprintf(line.out, "%s%s", queue->view.stats.paused ? " paused" : "",
            ops_queue_is_full(&queue->view.stats) ? " FULL" : "");
    line_end(&line, frame, look, false);
}

static void worker_add(struct ops_frame *frame, const struct ops_top_worker *worker,
                       const struct ops_top_look *look)
{
    struct line line;
    char done[CELL], failed[CELL], at_work[CELL];
    if (!line_begin(&line))
        return;
    count_write(done, worker->done);
    count_write(failed, worker->failed);
    snprintf(at_work, sizeof at_work, "%zu/%u", worker->at_work, worker->concurrency);
    harmless_write(line.out, worker->name, look->width >= 100 ? NAME_MOST : 20);
    fprintf(line.out, " %7" PRId64 " %7s %6s %6s %6" PRId64 "MB %s", worker->pid, at_work, done,
            failed, worker->memory_bytes / 1000000, worker->state);
    line_end(&line, frame, look, false);
}

static void worker_heads_add(struct ops_frame *frame, const struct ops_top_look *look)
{
    char text[200];
    snprintf(text, sizeof text, "%-*s %7s %7s %6s %6s %8s", look->width >= 100 ? NAME_MOST : 20,
             "WORKER", "PID", "WORK", "DONE", "FAILED", "MEMORY");
    line_add(frame, look, true, text);
}

/* --- order ------------------------------------------------------------------------------------ */

static int name_compare(const void *a, const void *b)
{
    const struct ops_top_queue *first = a, *second = b;
    return strcmp(first->view.name, second->view.name);
}

/* The greatest first, by name where they are equal. */
static int descend(int64_t first, int64_t second, const void *a, const void *b)
{
    return first != second ? (first < second) - (first > second) : name_compare(a, b);
}

static int count_compare(const void *a, const void *b, culex_run_state state)
{
    const struct ops_top_queue *first = a, *second = b;
    return descend((int64_t)first->view.stats.count[state],
                   (int64_t)second->view.stats.count[state], a, b);
}

static int waiting_compare(const void *a, const void *b)
{
    return count_compare(a, b, CULEX_RUN_WAITING);
}

static int dead_compare(const void *a, const void *b)
{
    return count_compare(a, b, CULEX_RUN_DEAD);
}

static int age_compare(const void *a, const void *b)
{
    const struct ops_top_queue *first = a, *second = b;
    return descend(first->view.age_ms, second->view.age_ms, a, b);
}

static void queues_sort(struct ops_top *top, enum ops_top_order order)
{
    static int (*const compare[])(const void *,
                                  const void *) = {[OPS_TOP_BY_NAME] = name_compare,
                                                   [OPS_TOP_BY_WAITING] = waiting_compare,
                                                   [OPS_TOP_BY_AGE] = age_compare,
                                                   [OPS_TOP_BY_DEAD] = dead_compare};
    if (top->queue_count > 0)
        qsort(top->queues, top->queue_count, sizeof *top->queues, compare[order]);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* A third of the screen, with its head and a blank line, where there is room for both. */
static size_t workers_shown(const struct ops_top *top, const struct ops_top_look *look)
{
    enum { SMALL = 12 };
    size_t most = look->height / 3;
    if (look->height == 0)
        return top->worker_count;
    if (look->height < SMALL)
        return 0;
    return top->worker_count < most ? top->worker_count : most;
}

static void keys_add(struct ops_frame *frame, const struct ops_top_look *look)
{
    if (look->height == 0)
        return;
    while (frame->count + 1 < look->height)
        line_add(frame, look, false, "");
    line_add(frame, look, true,
             look->width >= 70
                 ? "q quit  p pause  sort by: n name w waiting o oldest d dead  arrows: scroll"
                 : "q quit  p pause  sort n w o d");
}

struct ops_frame ops_frame_make(struct ops_top *top, const struct ops_top_look *look)
{
    enum { AROUND = 4, WORKERS_AROUND = 2 }; /* head, failure, heads and keys */
    struct ops_frame frame = {.of = NULL};
    size_t workers = workers_shown(top, look);
    size_t below = AROUND + (workers > 0 ? workers + WORKERS_AROUND : 0);
    size_t room = look->height == 0      ? top->queue_count
                  : look->height > below ? look->height - below
                                         : 0;
    queues_sort(top, look->order);
    head_add(&frame, top, look);
    failure_add(&frame, look);
    queue_heads_add(&frame, look);
    if (top->is_read && top->queue_count == 0)
        line_add(&frame, look, false,
                 "the store has no queue: one begins with its first run or worker; are its URL and "
                 "prefix the right ones?");
    for (size_t i = look->first; i < top->queue_count && i < look->first + room; i++)
        queue_add(&frame, &top->queues[i], look);
    if (workers > 0) {
        line_add(&frame, look, false, "");
        worker_heads_add(&frame, look);
    }
    for (size_t i = 0; i < workers; i++)
        worker_add(&frame, &top->workers[i], look);
    keys_add(&frame, look);
    return frame;
}
