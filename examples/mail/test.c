/* mail/test.c - both programs tested in this one, by a clock that stands until it is moved. */
#include <stdlib.h>

#include <culex_test.h>

#define main mail_main
#include "mail.c"
#undef main
#define main worker_main
#include "worker.c"
#undef main

static culex_test *test_begin(void)
{
    culex_test *test = NULL;
    if (culex_test_open(NULL, &test, NULL) != CULEX_OK)
        abort();
    CULEX_TEST_REQUIRE(test, setup(culex_test_worker(test), NULL) == CULEX_OK);
    return test;
}

/* What the command line does; its exit code. */
static int mail(culex_test *test, char *verb, char *to)
{
    char *words[] = {"mail", verb, to, "Hello", "bob@shop.example", NULL};
    return mail_verb(culex_test_client(test), to != NULL ? 5 : 2, words);
}

static void a_message_is_delivered(void)
{
    culex_test *test = test_begin();
    CULEX_TEST_REQUIRE(test, mail(test, "send", "ann@shop.example") == 0);
    CULEX_TEST_ENQUEUED(test, shop_send_email_job, "to", "ann@shop.example", "urgency", "SOON",
                        "cc", "[\"bob@shop.example\"]");
    CULEX_TEST_REQUIRE(test, CULEX_TEST_DRAIN(test) == 1);
    CULEX_TEST_STATE(test, CULEX_TEST_LAST(test, shop_send_email_job)->id, CULEX_RUN_DONE);
    culex_test_close(test);
}

static void a_busy_mailbox_is_tried_again(void)
{
    culex_test *test = test_begin();
    CULEX_TEST_REQUIRE(test, mail(test, "send", "gone@bounce.example") == 0);
    CULEX_TEST_REQUIRE(test, CULEX_TEST_DRAIN(test) == 1);
    CULEX_TEST_DELAY(test, shop_send_email_job, culex_milliseconds(100));
    CULEX_TEST_REQUIRE(test, CULEX_TEST_DRAIN_THROUGH(test, culex_minutes(1)) == 3);
    const culex_test_call *last = CULEX_TEST_LAST(test, shop_send_email_job);
    CULEX_TEST_REQUIRE(test, last->attempt == 4 &&
                                 last->at == CULEX_TEST_START + culex_milliseconds(700));
    CULEX_TEST_STATE(test, last->id, CULEX_RUN_DEAD);
    CULEX_TEST_REQUIRE(test, mail(test, "retry", NULL) == 0);
    CULEX_TEST_REQUIRE(
        test, strcmp(CULEX_TEST_ONE(test, shop_send_email_job)->to, "gone@bounce.example") == 0);
    culex_test_close(test);
}

static void an_unknown_domain_is_given_up(void)
{
    culex_test *test = test_begin();
    CULEX_TEST_REQUIRE(test, mail(test, "send", "anybody@nowhere.example") == 0);
    CULEX_TEST_REQUIRE(test, CULEX_TEST_RUN_ONE(test)->outcome == CULEX_DISCARDED);
    CULEX_TEST_IDLE(test);
    culex_test_close(test);
}

static void a_store_that_is_away_is_told(void)
{
    culex_test *test = test_begin();
    culex_test_fail_store(test, 1, 1, CULEX_ECONNECT);
    CULEX_TEST_REQUIRE(test, mail(test, "send", "ann@shop.example") == 1);
    CULEX_TEST_NONE(test, shop_send_email_job);
    CULEX_TEST_REQUIRE(test, mail(test, "send", "ann@shop.example") == 0);
    culex_test_close(test);
}

int main(void)
{
    a_message_is_delivered();
    a_busy_mailbox_is_tried_again();
    an_unknown_domain_is_given_up();
    a_store_that_is_away_is_told();
    return 0;
}
