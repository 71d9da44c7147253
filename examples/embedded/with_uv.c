/* with_uv.c - a worker in a loop of libuv: with_uv, then lines on standard input, each of which is
 * said louder; SIGINT and SIGTERM end it. */
#include <uv.h>

#include "shout.h"

enum { WORK, INPUT, INTERRUPT, TERMINATE, HANDLES };

/* All of a loop's handles; it ends when they are closed. */
struct program {
    struct shout shout;
    union uv_any_handle handles[HANDLES];
};

static void on_work(uv_poll_t *handle, int status, int events)
{
    struct program *program = handle->data;
    (void)status, (void)events;
    if (shout_work(&program->shout))
        return;
    for (int i = 0; i < HANDLES; i++) {
        if (!uv_is_closing(&program->handles[i].handle))
            uv_close(&program->handles[i].handle, NULL);
    }
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

static void handles_begin(struct program *program, uv_loop_t *loop)
{
    union uv_any_handle *handles = program->handles;
    uv_poll_init(loop, &handles[WORK].poll, culex_worker_fd(program->shout.worker));
    uv_poll_init(loop, &handles[INPUT].poll, 0);
    uv_signal_init(loop, &handles[INTERRUPT].signal);
    uv_signal_init(loop, &handles[TERMINATE].signal);
    for (int i = 0; i < HANDLES; i++)
        handles[i].handle.data = program;
    uv_poll_start(&handles[WORK].poll, UV_READABLE, on_work);
    uv_poll_start(&handles[INPUT].poll, UV_READABLE, on_input);
    uv_signal_start(&handles[INTERRUPT].signal, on_signal, SIGINT);
    uv_signal_start(&handles[TERMINATE].signal, on_signal, SIGTERM);
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
