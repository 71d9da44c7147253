/* with_uv.c - a worker in a loop of libuv: with_uv, then lines on standard input, each of which is
 * said louder; SIGINT and SIGTERM end it. */
#include <stdio.h>

#include <uv.h>

#include "shout.h"

enum { WORK, INTERRUPT, TERMINATE, INPUT, HANDLES };

/* All of a loop's handles; it ends when they are closed. */
struct program {
    struct shout shout;
    union uv_any_handle handles[HANDLES];
    int begun; /* so many of them */
};

static void handles_close(struct program *program)
{
    for (int i = 0; i < program->begun; i++) {
        if (!uv_is_closing(&program->handles[i].handle))
            uv_close(&program->handles[i].handle, NULL);
    }
}

/* False when the handle could not be made. */
static bool handle_note(struct program *program, int status)
{
    if (status < 0)
        return false;
    program->handles[program->begun++].handle.data = program;
    return true;
}

static bool is_well(struct program *program, int status)
{
    if (status == 0)
        return true;
    fprintf(stderr, "embedded: no handle: %s\n", uv_strerror(status));
    program->shout.failures++;
    return false;
}

static void on_work(uv_poll_t *handle, int status, int events)
{
    struct program *program = handle->data;
    (void)events;
    if (!is_well(program, status) || !shout_work(&program->shout))
        handles_close(program);
}

static void on_input(uv_poll_t *handle, int status, int events)
{
    struct program *program = handle->data;
    (void)events;
    if (status < 0 || !shout_read(&program->shout))
        uv_close((uv_handle_t *)handle, NULL);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct program *program = handle->data;
    (void)number;
    culex_worker_stop(program->shout.worker); /* on_work hears of it */
}

static int signal_begin(struct program *program, uv_loop_t *loop, int which, int number)
{
    uv_signal_t *handle = &program->handles[which].signal;
    int status = uv_signal_init(loop, handle);
    return handle_note(program, status) ? uv_signal_start(handle, on_signal, number) : status;
}

static int poll_begin(struct program *program, uv_loop_t *loop, int which, int fd, uv_poll_cb call)
{
    uv_poll_t *handle = &program->handles[which].poll;
    int status = uv_poll_init(loop, handle, fd);
    return handle_note(program, status) ? uv_poll_start(handle, UV_READABLE, call) : status;
}

/* A file, or /dev/null, cannot be waited for, and never lets who reads it wait. */
static int input_begin(struct program *program, uv_loop_t *loop)
{
    int status = poll_begin(program, loop, INPUT, 0, on_input);
    if (status != UV_EPERM)
        return status;
    while (shout_read(&program->shout)) {
    }
    return 0;
}

static void handles_begin(struct program *program, uv_loop_t *loop)
{
    int fd = culex_worker_fd(program->shout.worker);
    if (!is_well(program, poll_begin(program, loop, WORK, fd, on_work)) ||
        !is_well(program, signal_begin(program, loop, INTERRUPT, SIGINT)) ||
        !is_well(program, signal_begin(program, loop, TERMINATE, SIGTERM)) ||
        !is_well(program, input_begin(program, loop)))
        handles_close(program);
}

int main(void)
{
    static struct program program;
    uv_loop_t *loop = uv_default_loop();
    if (shout_begin(&program.shout)) {
        handles_begin(&program, loop);
        uv_run(loop, UV_RUN_DEFAULT);
    }
    uv_loop_close(loop);
    shout_end(&program.shout);
    return program.shout.failures > 0 ? 1 : 0;
}
