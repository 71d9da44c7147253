/* The proxy does what it says: a campaign that cuts nothing would pass for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "proxy.h"

struct stage {
    struct proxy *proxy;
    char folder[64], path[96];
    int listener, client, server;
};

static int unix_socket(const char *path, bool is_listening)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval limit = {.tv_sec = 10};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (is_listening) {
        assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
        assert_int_equal(listen(fd, 4), 0);
    } else {
        assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    }
    return fd;
}

static void stage_connect(struct stage *stage)
{
    const struct timeval limit = {.tv_sec = 10};
    stage->client = unix_socket(proxy_url(stage->proxy) + strlen("redis+unix://"), false);
    stage->server = accept(stage->listener, NULL, NULL);
    assert_true(stage->server >= 0);
    setsockopt(stage->server, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

static int stage_open(void **state)
{
    struct stage *stage = calloc(1, sizeof *stage);
    strcpy(stage->folder, "/tmp/culex-stage-XXXXXX");
    assert_non_null(mkdtemp(stage->folder));
    snprintf(stage->path, sizeof stage->path, "%s/s", stage->folder);
    stage->listener = unix_socket(stage->path, true);
    stage->proxy = proxy_start(stage->path);
    assert_non_null(stage->proxy);
    stage_connect(stage);
    *state = stage;
    return 0;
}

static int stage_close(void **state)
{
    struct stage *stage = *state;
    close(stage->client);
    close(stage->server);
    proxy_stop(stage->proxy);
    close(stage->listener);
    unlink(stage->path);
    rmdir(stage->folder);
    free(stage);
    return 0;
}

/* Everything until the end of the connection. */
static size_t read_all(int fd, char *bytes, size_t size)
{
    size_t len = 0;
    for (;;) {
        ssize_t got = recv(fd, bytes + len, size - len, 0);
        if (got < 0)
            assert_int_equal(errno, ECONNRESET);
        if (got <= 0)
            return len;
        len += (size_t)got;
    }
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void hear(int fd, const char *text)
{
    char bytes[64];
    assert_int_equal(recv(fd, bytes, strlen(text), MSG_WAITALL), strlen(text));
    assert_memory_equal(bytes, text, strlen(text));
}

static void test_pass__both_ways_and_counted(void **state)
{
    struct stage *stage = *state;
    say(stage->client, "hello");
    hear(stage->server, "hello");
    say(stage->server, "dear");
    hear(stage->client, "dear");
    assert_int_equal(proxy_bytes(stage->proxy, PROXY_REQUEST), 5);
    assert_int_equal(proxy_bytes(stage->proxy, PROXY_REPLY), 4);
}

static void test_cut__lets_just_the_bytes_before_it_pass(void **state)
{
    struct stage *stage = *state;
    for (int direction = 0; direction < 2; direction++) {
        for (size_t k = 0; k <= 6; k++) {
            char bytes[16];
            proxy_set(stage->proxy,
                      &(struct proxy_fault){.action = PROXY_CUT,
                                            .direction = direction ? PROXY_REPLY : PROXY_REQUEST,
                                            .after = k,
                                            .times = 1});
            /* Nothing passes a cut at 0; then the connection may be gone before the word is. */
            send(direction ? stage->server : stage->client, "abcdef", 6, MSG_NOSIGNAL);
            int receiver = direction ? stage->client : stage->server;
            assert_int_equal(read_all(receiver, bytes, sizeof bytes), k);
            assert_memory_equal(bytes, "abcdef", k);
            assert_int_equal(proxy_hits(stage->proxy), 1);
            close(stage->client);
            close(stage->server);
            stage_connect(stage);
            say(stage->client, "x");
            hear(stage->server, "x");
        }
    }
}

static void test_half__ends_one_way_only(void **state)
{
    struct stage *stage = *state;
    char bytes[16];
    proxy_set(stage->proxy, &(struct proxy_fault){.action = PROXY_HALF, .after = 2, .times = 1});
    say(stage->client, "abcd");
    assert_int_equal(read_all(stage->server, bytes, sizeof bytes), 2);
    say(stage->server, "back");
    hear(stage->client, "back");
}

static void test_hold__keeps_bytes_until_cleared(void **state)
{
    struct stage *stage = *state;
    char byte;
    proxy_set(stage->proxy, &(struct proxy_fault){.action = PROXY_HOLD, .after = 3});
    say(stage->client, "abcdef");
    hear(stage->server, "abc");
    while (proxy_hits(stage->proxy) == 0)
        continue;
    assert_int_equal(recv(stage->server, &byte, 1, MSG_DONTWAIT), -1);
    proxy_set(stage->proxy, NULL);
    hear(stage->server, "def");
}

static void test_drip_and_delay__bring_everything_in_the_end(void **state)
{
    struct stage *stage = *state;
    proxy_set(stage->proxy, &(struct proxy_fault){.action = PROXY_DRIP, .ms = 1});
    say(stage->client, "abcdef");
    hear(stage->server, "abcdef");
    proxy_set(stage->proxy,
              &(struct proxy_fault){.action = PROXY_DELAY, .direction = PROXY_REPLY, .ms = 1});
    say(stage->server, "abcdef");
    hear(stage->client, "abcdef");
    assert_int_equal(proxy_hits(stage->proxy), 1);
}

static void test_answer__stands_in_for_the_server(void **state)
{
    struct stage *stage = *state;
    proxy_set(stage->proxy,
              &(struct proxy_fault){.action = PROXY_ANSWER, .match = "EVAL", .text = "-NO\r\n"});
    say(stage->client, "x EVAL y");
    hear(stage->client, "-NO\r\n");
    say(stage->client, "other");
    hear(stage->server, "other");
    assert_int_equal(proxy_hits(stage->proxy), 1);
}

static void test_refuse__closes_new_connections(void **state)
{
    struct stage *stage = *state;
    char bytes[16];
    proxy_set(stage->proxy, &(struct proxy_fault){.action = PROXY_REFUSE, .text = "-ERR full\r\n"});
    int fd = unix_socket(proxy_url(stage->proxy) + strlen("redis+unix://"), false);
    assert_int_equal(read_all(fd, bytes, sizeof bytes), 11);
    close(fd);
    assert_int_equal(proxy_connections(stage->proxy), 1);
    say(stage->client, "old ones stay");
    hear(stage->server, "old ones stay");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, stage_open, stage_close)
    const struct CMUnitTest tests[] = {
        TEST(test_pass__both_ways_and_counted),
        TEST(test_cut__lets_just_the_bytes_before_it_pass),
        TEST(test_half__ends_one_way_only),
        TEST(test_hold__keeps_bytes_until_cleared),
        TEST(test_drip_and_delay__bring_everything_in_the_end),
        TEST(test_answer__stands_in_for_the_server),
        TEST(test_refuse__closes_new_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
