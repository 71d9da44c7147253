/* with_glib.c - a worker in a main loop of GLib, as a program with GTK has one: with_glib, then
 * lines on standard input, each of which is said louder; SIGINT and SIGTERM end it. */
#include <glib-unix.h>

#include "shout.h"

struct program {
    struct shout shout;
    GMainLoop *loop;
};

static gboolean on_work(gint fd, GIOCondition condition, gpointer user)
{
    struct program *program = user;
    (void)fd, (void)condition;
    if (shout_work(&program->shout))
        return G_SOURCE_CONTINUE;
    g_main_loop_quit(program->loop);
    return G_SOURCE_REMOVE;
}

static gboolean on_input(gint fd, GIOCondition condition, gpointer user)
{
    struct program *program = user;
    (void)fd, (void)condition;
    return shout_read(&program->shout) ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static gboolean on_signal(gpointer user)
{
    struct program *program = user;
    culex_worker_stop(program->shout.worker); /* on_work hears of it */
    return G_SOURCE_CONTINUE;
}

int main(void)
{
    struct program program = {{NULL, NULL, 0}, g_main_loop_new(NULL, FALSE)};
    if (shout_begin(&program.shout)) {
        g_unix_fd_add(culex_worker_fd(program.shout.worker), G_IO_IN, on_work, &program);
        g_unix_fd_add(0, G_IO_IN | G_IO_HUP, on_input, &program);
        g_unix_signal_add(SIGINT, on_signal, &program);
        g_unix_signal_add(SIGTERM, on_signal, &program);
        g_main_loop_run(program.loop);
    }
    g_main_loop_unref(program.loop);
    shout_end(&program.shout);
    return program.shout.failures > 0 ? 1 : 0;
}
