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

/* --- columns ------------------------------------------------------------------------------------
 */

/* In their order on the screen; `rank` is that in which they get room. */
struct column {
    const char *name;
    size_t width;
    int rank;
};

enum {
    STATE,
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
    PARKED,
    COLUMN_COUNT
};

static const struct column queue_columns[COLUMN_COUNT] = {
    [STATE] = {"STATE", 6, 0},        [WAITING] = {"WAIT", 5, 1},    [OLDEST] = {"OLDEST", 6, 2},
    [ACTIVE] = {"WORK", 4, 4},        [DEAD] = {"DEAD", 5, 3},       [DONE_RATE] = {"DONE/s", 6, 5},
    [FAILED_RATE] = {"FAIL/s", 6, 6}, [WAIT_50] = {"WAIT50", 6, 11}, [WAIT_99] = {"WAIT99", 6, 8},
    [RUN_50] = {"RUN50", 5, 10},      [RUN_99] = {"RUN99", 5, 9},    [WORKERS] = {"WRK", 3, 12},
    [SCHEDULED] = {"SCHED", 5, 13},   [PARKED] = {"PARKED", 6, 7},
};

enum { PID, AT_WORK, DONE, FAILED, MEMORY, ORDERED, WORKER_COLUMN_COUNT };

static const struct column worker_columns[WORKER_COLUMN_COUNT] = {
    [PID] = {"PID", 7, 2},       [AT_WORK] = {"WORK", 7, 0},  [DONE] = {"DONE", 6, 3},
    [FAILED] = {"FAILED", 6, 4}, [MEMORY] = {"MEMORY", 8, 5}, [ORDERED] = {"STATE", 8, 1},
};

enum { NAME_LEAST = 10, NAME_MOST = 32 };

/* What has room in a line: whole columns, for half a number is another one. */
struct layout {
    const struct column *columns;
    size_t count, name; /* places of it */
    int ranks;          /* columns whose rank is less */
};

static struct layout layout_make(const struct column *columns, size_t count, size_t width,
                                 size_t longest)
{
    struct layout layout = {.columns = columns, .count = count};
    size_t used = NAME_LEAST, most = longest > NAME_MOST ? longest : NAME_MOST;
    for (; (size_t)layout.ranks < count; layout.ranks++) {
        size_t column = 0;
        while (columns[column].rank != layout.ranks)
            column++;
        if (used + 1 + columns[column].width > width)
            break;
        used += 1 + columns[column].width;
    }
    layout.name = width > used ? NAME_LEAST + width - used : NAME_LEAST;
    layout.name = layout.name > most ? most : layout.name;
    return layout;
}

static struct layout queues_layout(const struct ops_top *top, const struct ops_top_look *look)
{
    size_t longest = 0;
    for (size_t i = 0; i < top->queue_count; i++) {
        size_t len = strlen(top->queues[i].view.name);
        longest = len > longest ? len : longest;
    }
    return layout_make(queue_columns, COLUMN_COUNT, look->width, longest);
}

static struct layout workers_layout(const struct ops_top *top, const struct ops_top_look *look)
{
    size_t longest = 0;
    for (size_t i = 0; i < top->worker_count; i++) {
        size_t len = strlen(top->workers[i].name);
        longest = len > longest ? len : longest;
    }
    return layout_make(worker_columns, WORKER_COLUMN_COUNT, look->width, longest);
}

/* Whether workers take runs of it, and it takes in any. */
static const char *state_word(const culex_queue_stats *stats)
{
    if (ops_queue_is_full(stats))
        return stats->paused ? "p+FULL" : "FULL";
    return stats->paused ? "paused" : "";
}

static void queue_cell_write(char text[CELL], const struct ops_top_queue *queue, size_t column)
{
    const culex_queue_stats *stats = &queue->view.stats;
    const culex_spread *wait = &queue->figures.wait, *run = &queue->figures.run;
    const int64_t spans[COLUMN_COUNT] = {[OLDEST] = queue->view.age_ms * 1000,
                                         [WAIT_50] = wait->count > 0 ? wait->p50_us : -1,
                                         [WAIT_99] = wait->count > 0 ? wait->p99_us : -1,
                                         [RUN_50] = run->count > 0 ? run->p50_us : -1,
                                         [RUN_99] = run->count > 0 ? run->p99_us : -1};
    const uint64_t counts[COLUMN_COUNT] = {
        [WAITING] = stats->count[CULEX_RUN_WAITING],     [ACTIVE] = stats->count[CULEX_RUN_ACTIVE],
        [DEAD] = stats->count[CULEX_RUN_DEAD],           [WORKERS] = queue->view.workers,
        [SCHEDULED] = stats->count[CULEX_RUN_SCHEDULED], [PARKED] = queue->parked};
    bool is_span = column == OLDEST || (column >= WAIT_50 && column <= RUN_99);
    strcpy(text, "-");
    if (column == STATE)
        strcpy(text, state_word(stats));
    else if (column == DONE_RATE || column == FAILED_RATE)
        rate_write(text, column == DONE_RATE ? queue->done_rate : queue->failed_rate);
    else if (!is_span)
        count_write(text, counts[column]);
    else if (spans[column] >= 0)
        span_write(text, spans[column]);
}

static void worker_cell_write(char text[CELL], const struct ops_top_worker *worker, size_t column)
{
    switch (column) {
    case PID:
        snprintf(text, CELL, "%" PRId64, worker->pid);
        break;
    case AT_WORK:
        snprintf(text, CELL, "%zu/%u", worker->at_work, worker->concurrency);
        break;
    case MEMORY:
        snprintf(text, CELL, "%" PRId64 "MB", worker->memory_bytes / 1000000);
        break;
    case ORDERED:
        snprintf(text, CELL, "%s", worker->state);
        break;
    default:
        count_write(text, column == DONE ? worker->done : worker->failed);
    }
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

/* A part of the head, with what is before it. */
struct piece {
    char text[80];
    int rank; /* in which they get room */
};

static size_t pieces_width(const struct piece *pieces, size_t count, int ranks)
{
    size_t width = 0;
    for (size_t i = 0; i < count; i++)
        width += pieces[i].rank < ranks ? strlen(pieces[i].text) : 0;
    return width;
}

/* Those that have room whole, for half a number is another one. */
static void pieces_add(struct ops_frame *frame, const struct ops_top_look *look,
                       const struct piece *pieces, size_t count)
{
    struct line line;
    int ranks = (int)count;
    while (ranks > 1 && pieces_width(pieces, count, ranks) > look->width)
        ranks--;
    if (!line_begin(&line))
        return;
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].rank < ranks)
            fputs(pieces[i].text, line.out);
    }
    line_end(&line, frame, look, true);
}

static void noun_write(struct piece *piece, const char *before, uint64_t count, const char *one,
                       const char *several)
{
    char text[CELL];
    count_write(text, count);
    snprintf(piece->text, sizeof piece->text, "%s%s %s", before, text, count == 1 ? one : several);
}

static void store_write(struct piece pieces[2], const struct ops_top_look *look)
{
    char span[OPS_SPAN_SIZE];
    snprintf(pieces[0].text, sizeof pieces[0].text, "culex%s%s", look->is_held ? " HELD" : "",
             look->late_ms > 0          ? " SLOW STORE"
             : look->failure[0] != '\0' ? " STORE FAILS"
                                        : "");
    if (look->late_ms > 0)
        snprintf(pieces[1].text, sizeof pieces[1].text, ": no answer for %s",
                 ops_span_format(look->late_ms * 1000, span));
}

static void head_add(struct ops_frame *frame, const struct ops_top *top,
                     const struct ops_top_look *look)
{
    enum { LATE = 1, TIME, QUEUES, DEADS, SERVING, RUNS, PIECES };
    struct piece pieces[PIECES] = {[LATE] = {"", 1},    [QUEUES] = {"", 2}, [DEADS] = {"", 3},
                                   [SERVING] = {"", 4}, [RUNS] = {"", 5},   [TIME] = {"", 6}};
    char at[OPS_TIME_SIZE];
    uint64_t dead = 0, at_work = 0;
    for (size_t i = 0; i < top->queue_count; i++)
        dead += top->queues[i].view.stats.count[CULEX_RUN_DEAD];
    for (size_t i = 0; i < top->worker_count; i++)
        at_work += top->workers[i].at_work;
    store_write(pieces, look);
    snprintf(pieces[TIME].text, sizeof pieces[TIME].text, "  %s",
             top->now_ms != 0 ? ops_time_format(top->now_ms, at)
             : top->is_read   ? "(no queue)"
                              : "(nothing is read yet)");
    noun_write(&pieces[QUEUES], "  ", top->queue_count, "queue", "queues");
    noun_write(&pieces[DEADS], ", ", dead, "dead", "dead");
    noun_write(&pieces[SERVING], "  ", top->worker_count, "worker", "workers");
    noun_write(&pieces[RUNS], ", ", at_work, "run at work", "runs at work");
    pieces_add(frame, look, pieces, PIECES);
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

static void heads_add(struct ops_frame *frame, const struct layout *layout,
                      const struct ops_top_look *look, const char *name)
{
    struct line line;
    if (!line_begin(&line))
        return;
    fprintf(line.out, "%-*s", (int)layout->name, name);
    for (size_t i = 0; i < layout->count; i++) {
        if (layout->columns[i].rank < layout->ranks)
            fprintf(line.out, " %*s", (int)layout->columns[i].width, layout->columns[i].name);
    }
    line_end(&line, frame, look, true);
}

static void queue_add(struct ops_frame *frame, const struct ops_top_queue *queue,
                      const struct layout *layout, const struct ops_top_look *look)
{
    struct line line;
    char cell[CELL];
    if (!line_begin(&line))
        return;
    if (layout->ranks <= queue_columns[STATE].rank && queue->view.stats.paused)
        fputs("p ", line.out); /* for want of its column */
    harmless_write(line.out, queue->view.name, layout->name);
    for (size_t i = 0; i < layout->count; i++) {
        if (layout->columns[i].rank >= layout->ranks)
            continue;
        queue_cell_write(cell, queue, i);
        fprintf(line.out, " %*s", (int)layout->columns[i].width, cell);
    }
    line_end(&line, frame, look, false);
}

static void worker_add(struct ops_frame *frame, const struct ops_top_worker *worker,
                       const struct layout *layout, const struct ops_top_look *look)
{
    struct line line;
    char cell[CELL];
    if (!line_begin(&line))
        return;
    harmless_write(line.out, worker->name, layout->name);
    for (size_t i = 0; i < layout->count; i++) {
        if (layout->columns[i].rank >= layout->ranks)
            continue;
        worker_cell_write(cell, worker, i);
        fprintf(line.out, " %*s", (int)layout->columns[i].width, cell);
    }
    line_end(&line, frame, look, false);
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
                 ? "q quit  p hold  sort by: n name w waiting o oldest d dead  arrows: scroll"
                 : "q quit  p hold  sort n w o d");
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
    const struct layout layout = queues_layout(top, look), below_it = workers_layout(top, look);
    queues_sort(top, look->order);
    head_add(&frame, top, look);
    failure_add(&frame, look);
    heads_add(&frame, &layout, look, "QUEUE");
    if (top->is_read && top->queue_count == 0)
        line_add(&frame, look, false,
                 "the store has no queue: one begins with its first run or worker; are its URL and "
                 "prefix the right ones?");
    for (size_t i = look->first; i < top->queue_count && i < look->first + room; i++)
        queue_add(&frame, &top->queues[i], &layout, look);
    if (workers > 0) {
        line_add(&frame, look, false, "");
        heads_add(&frame, &below_it, look, "WORKER");
    }
    for (size_t i = 0; i < workers; i++)
        worker_add(&frame, &top->workers[i], &below_it, look);
    keys_add(&frame, look);
    return frame;
}
