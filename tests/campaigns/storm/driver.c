/* storm/driver.c - real processes, a real store, and everybody is killed.
 * usage: storm redis|sqlite [--kills N] [--seed S] [--isolation none|process|job]
 *              [--fsync always|everysec] [--folder DIR]
 *
 * Producers and workers run against one store while processes are killed and stopped at random.
 * After N kills everything is healed, the producers finish, the queues are drained, all end, and
 * storm_check proves from ledgers and store that nothing was lost or doubled. The folder with both
 * stays when anything is wrong. Exit code 0 when all holds. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crew.h"
#include "dice.h"
#include "ledger.h"
#include "proc.h"

enum {
    LEASE_MS = 400,
    PACE_MS = 80, /* longest time between two blows; half of it on average */
    PRODUCERS = 2,
    WORKERS_NAMED = 3,
    WORKERS_UNNAMED = 4,
    RATE = 120, /* runs a second of a producer */
    SECOND_US = 1000000,
    DRAIN_S = 120,
    DESCRIPTORS_SPARE = 2
};

struct storm {
    struct crew crew;
    struct dice dice;
    unsigned long kills, kills_asked, stops;
    const char *fsync;
    bool is_own_folder;
};

/* --- blows --------------------------------------------------------------------------------------
 */

/* A running member of the kind; NULL when there is none. */
static struct member *member_pick(struct storm *storm, enum crew_kind kind, bool with_veteran)
{
    struct member *found[CREW_MAX];
    uint32_t count = 0;
    for (size_t i = 0; i < storm->crew.member_count; i++) {
        struct member *member = &storm->crew.members[i];
        if (member->pid != 0 && member->kind == kind && (with_veteran || !member->is_veteran))
            found[count++] = member;
    }
    return count > 0 ? found[dice_roll(&storm->dice, count)] : NULL;
}

static int64_t later_us(struct storm *storm, uint32_t ms_max)
{
    return ledger_now_us() + 1000 * (int64_t)dice_roll(&storm->dice, ms_max + 1);
}

static bool worker_kill(struct storm *storm)
{
    struct member *member = member_pick(storm, CREW_WORKER, false);
    if (member == NULL)
        return false;
    member_kill(&storm->crew, member, later_us(storm, member->is_named ? 30 : 300));
    return true;
}

static bool producer_kill(struct storm *storm)
{
    struct member *member = member_pick(storm, CREW_PRODUCER, false);
    if (member == NULL)
        return false;
    member_kill(&storm->crew, member, later_us(storm, 100));
    return true;
}

static bool server_kill(struct storm *storm)
{
    if (!storm->crew.is_redis || storm->crew.server.pid == 0)
        return false;
    crew_server_kill(&storm->crew, later_us(storm, 300));
    return true;
}

/* Below a worker stands its zygote, and below that the children that run handlers. */
enum { DEPTH_ZYGOTE = 1, DEPTH_CHILD = 2 };

static bool below_pick(struct storm *storm, const struct member *member, unsigned depth,
                       struct proc_entry *ret_entry)
{
    struct proc_list list;
    uint32_t count = 0;
    if (member == NULL)
        return false;
    proc_descendants(member->pid, &list);
    for (size_t i = 0; i < list.count; i++) {
        if (list.entries[i].depth == depth && list.entries[i].state != 'Z')
            list.entries[count++] = list.entries[i];
    }
    if (count == 0)
        return false;
    *ret_entry = list.entries[dice_roll(&storm->dice, count)];
    return true;
}

static bool child_kill(struct storm *storm)
{
    struct proc_entry entry;
    return below_pick(storm, member_pick(storm, CREW_WORKER, true), DEPTH_CHILD, &entry) &&
           crew_kill_child(&storm->crew, entry.pid, entry.parent);
}

static bool zygote_kill(struct storm *storm)
{
    struct proc_entry entry;
    struct member *member = member_pick(storm, CREW_WORKER, false);
    return below_pick(storm, member, DEPTH_ZYGOTE, &entry) &&
           crew_kill_zygote(&storm->crew, entry.pid, member);
}

static bool member_stop(struct storm *storm, enum crew_kind kind)
{
    const struct member *member = member_pick(storm, kind, true);
    return member != NULL && crew_stop(&storm->crew, kind == CREW_WORKER ? "worker" : "producer",
                                       member->pid, getpid(), later_us(storm, 5 * LEASE_MS / 2));
}

static bool server_stop(struct storm *storm)
{
    return storm->crew.is_redis && storm->crew.server.pid != 0 &&
           crew_stop(&storm->crew, "server", storm->crew.server.pid, getpid(),
                     later_us(storm, 700));
}

static bool child_stop(struct storm *storm)
{
    struct proc_entry entry;
    return below_pick(storm, member_pick(storm, CREW_WORKER, true), DEPTH_CHILD, &entry) &&
           crew_stop(&storm->crew, "child", entry.pid, entry.parent, later_us(storm, 900));
}

static void blow_strike(struct storm *storm)
{
    bool is_wild = strcmp(storm->crew.isolation, "none") != 0;
    uint32_t chance = dice_roll(&storm->dice, 100);
    bool is_stop = chance >= 75;
    bool is_struck = chance < 40   ? worker_kill(storm)
                     : chance < 62 ? is_wild && child_kill(storm)
                     : chance < 66 ? is_wild && zygote_kill(storm)
                     : chance < 73 ? producer_kill(storm)
                     : chance < 75 ? server_kill(storm)
                     : chance < 91 ? member_stop(storm, CREW_WORKER)
                     : chance < 94 ? member_stop(storm, CREW_PRODUCER)
                     : chance < 95 ? server_stop(storm)
                                   : is_wild && child_stop(storm);
    if (!is_struck)
        return;
    if (is_stop)
        storm->stops++;
    else
        storm->kills++;
}

/* --- the storm ----------------------------------------------------------------------------------
 */

static void rest_ms(int64_t ms)
{
    const struct timespec length = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&length, NULL);
}

static void progress_print(const struct storm *storm, int64_t begin_us)
{
    fprintf(stderr, "storm: %s: %lu of %lu kills, %lu stops, %lld s, %llu faults\n",
            storm->crew.is_redis ? "redis" : "sqlite", storm->kills, storm->kills_asked,
            storm->stops, (long long)(ledger_now_us() - begin_us) / SECOND_US,
            (unsigned long long)storm->crew.faults);
}

static void storm_rage(struct storm *storm)
{
    int64_t begin_us = ledger_now_us();
    unsigned long told = 0;
    while (storm->kills < storm->kills_asked && storm->crew.faults == 0) {
        int64_t next_us = later_us(storm, PACE_MS);
        do {
            crew_tend(&storm->crew, ledger_now_us());
            rest_ms(2);
        } while (ledger_now_us() < next_us && storm->crew.faults == 0);
        blow_strike(storm);
        if (storm->kills - told >= 500) {
            progress_print(storm, begin_us);
            told = storm->kills;
        }
    }
    progress_print(storm, begin_us);
}

static void crew_hire(struct storm *storm)
{
    struct crew *crew = &storm->crew;
    char name[32];
    for (int i = 0; i < WORKERS_NAMED + WORKERS_UNNAMED; i++) {
        bool is_named = i < WORKERS_NAMED;
        snprintf(name, sizeof name, is_named ? "fixed%d" : "worker%d", i);
        crew_add(crew, CREW_WORKER, name)->is_named = is_named;
    }
    crew_add(crew, CREW_WORKER, "veteran")->is_veteran = true;
    for (int i = 0; i < PRODUCERS; i++) {
        snprintf(name, sizeof name, "producer%d", i);
        struct member *member = crew_add(crew, CREW_PRODUCER, name);
        snprintf(member->rate, sizeof member->rate, "%d", RATE);
    }
}

/* --- after the storm ----------------------------------------------------------------------------
 */

static void storm_drain(struct storm *storm)
{
    const char *words[CREW_ARGUMENTS_MAX];
    crew_worker_words(&storm->crew, "drainer", "--drain", words);
    if (crew_run(&storm->crew, words, "drainer.log", "drainer.log", (int64_t)DRAIN_S * SECOND_US) !=
        0)
        crew_fault(&storm->crew, "the queues could not be drained in %d s", DRAIN_S);
}

static size_t zombies_below(pid_t pid)
{
    struct proc_list list;
    size_t count = 0;
    proc_descendants(pid, &list);
    for (size_t i = 0; i < list.count; i++)
        count += list.entries[i].state == 'Z';
    return count;
}

/* What a worker holds beside its ties to the processes below it, of which there are more or fewer.
 */
static int descriptors_own(pid_t pid)
{
    struct proc_list list;
    int count = proc_descriptors(pid);
    proc_descendants(pid, &list);
    return count < 0 ? count : count - (int)list.count;
}

/* The veteran went through all of it, the others were born late: what it leaked shows. */
static void veteran_examine(struct storm *storm)
{
    int least = INT_MAX, veteran = 0;
    for (size_t i = 0; i < storm->crew.member_count; i++) {
        const struct member *member = &storm->crew.members[i];
        int count = member->pid != 0 ? descriptors_own(member->pid) : -1;
        if (member->kind != CREW_WORKER || count < 0)
            continue;
        if (member->is_veteran)
            veteran = count;
        else if (count < least)
            least = count;
        if (zombies_below(member->pid) > 2)
            crew_fault(&storm->crew, "%s keeps zombies", member->name);
    }
    printf("  descriptors: %d in the worker that saw it all, %d in a young one\n", veteran, least);
    if (veteran > least + DESCRIPTORS_SPARE)
        crew_fault(&storm->crew, "the worker that saw it all holds %d descriptors, a young one %d",
                   veteran, least);
}

/* Orphans come to the driver (PR_SET_CHILD_SUBREAPER), so nothing escapes this look. */
static size_t strangers_find(struct storm *storm, struct proc_list *ret_list)
{
    size_t count = 0;
    crew_collect(&storm->crew);
    proc_descendants(getpid(), ret_list);
    for (size_t i = 0; i < ret_list->count; i++) {
        struct proc_entry *entry = &ret_list->entries[i];
        if (entry->pid != storm->crew.server.pid)
            ret_list->entries[count++] = *entry;
    }
    return ret_list->count = count;
}

static void leftovers_find(struct storm *storm)
{
    struct proc_list list;
    size_t excused = 0;
    for (int i = 0; i < 1500 && strangers_find(storm, &list) > 0; i++)
        rest_ms(2);
    for (size_t i = 0; i < list.count; i++) {
        const struct proc_entry *entry = &list.entries[i];
        if (crew_is_unguarded(&storm->crew, entry->pid))
            excused++;
        else
            crew_fault(&storm->crew, "process %ld of group %ld is left over", (long)entry->pid,
                       (long)getpgid(entry->pid));
        proc_signal(entry->pid, entry->parent, SIGKILL);
    }
    if (excused > 0)
        printf("  %zu left over by handlers whose zygote and worker were both killed\n", excused);
}

static void storm_judge(struct storm *storm)
{
    struct crew *crew = &storm->crew;
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%s/storm.db", crew->folder);
    const char *dump[] = {"storm_dump", crew->is_redis ? "redis" : "sqlite",
                          crew->is_redis ? crew->server.socket : file, NULL};
    const char *check[] = {"storm_check", crew->folder, NULL};
    if (crew_run(crew, dump, "store.txt", NULL, (int64_t)DRAIN_S * SECOND_US) != 0)
        crew_fault(crew, "the store cannot be read");
    else if (crew_run(crew, check, NULL, NULL, (int64_t)DRAIN_S * SECOND_US) != 0)
        crew_fault(crew, "the checker objects");
}

static void storm_calm(struct storm *storm)
{
    crew_heal(&storm->crew, SECOND_US, 60 * (int64_t)SECOND_US);
    crew_dismiss(&storm->crew, CREW_PRODUCER, 60 * (int64_t)SECOND_US);
    storm_drain(storm);
    veteran_examine(storm);
    crew_dismiss(&storm->crew, CREW_WORKER, 60 * (int64_t)SECOND_US);
    leftovers_find(storm);
    storm_judge(storm);
}

/* --- the program --------------------------------------------------------------------------------
 */

/* Digits alone: a word that is read as 0 would be a storm without a kill, and green. */
static bool number_read(const char *text, uint64_t *ret_number)
{
    size_t len = strlen(text);
    if (len == 0 || len > 19 || strspn(text, "0123456789") != len)
        return false;
    *ret_number = strtoull(text, NULL, 10);
    return true;
}

static bool options_read(struct storm *storm, int argc, char **argv)
{
    static const struct option options[] = {
        {"kills", required_argument, NULL, 'k'},     {"seed", required_argument, NULL, 's'},
        {"isolation", required_argument, NULL, 'i'}, {"fsync", required_argument, NULL, 'f'},
        {"folder", required_argument, NULL, 'd'},    {NULL, 0, NULL, 0}};
    int letter;
    uint64_t kills = storm->kills_asked;
    bool is_good = true;
    while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (letter == 'k')
            is_good = is_good && number_read(optarg, &kills);
        else if (letter == 's')
            is_good = is_good && number_read(optarg, &storm->crew.seed);
        else if (letter == 'i')
            storm->crew.isolation = optarg;
        else if (letter == 'f')
            storm->fsync = optarg;
        else if (letter == 'd')
            snprintf(storm->crew.folder, sizeof storm->crew.folder, "%s", optarg);
        else
            return false;
    }
    if (!is_good || optind + 1 != argc)
        return false;
    storm->kills_asked = (unsigned long)kills;
    storm->crew.is_redis = strcmp(argv[optind], "redis") == 0;
    return storm->crew.is_redis || strcmp(argv[optind], "sqlite") == 0;
}

static bool programs_find(struct crew *crew)
{
    ssize_t len = readlink("/proc/self/exe", crew->programs, sizeof crew->programs - 1);
    if (len <= 0)
        return false;
    crew->programs[len] = '\0';
    *strrchr(crew->programs, '/') = '\0';
    return true;
}

static bool folder_make(struct storm *storm)
{
    char *folder = storm->crew.folder;
    if (folder[0] != '\0')
        return mkdir(folder, 0700) == 0;
    storm->is_own_folder = true;
    snprintf(folder, sizeof storm->crew.folder, "/tmp/culex-storm-XXXXXX");
    return mkdtemp(folder) != NULL;
}

static bool store_open(struct storm *storm)
{
    struct crew *crew = &storm->crew;
    const char *const extra[] = {"--appendonly", "yes", "--appendfsync", storm->fsync, NULL};
    if (!crew->is_redis) {
        snprintf(crew->url, sizeof crew->url, "sqlite:%s/storm.db", crew->folder);
        return true;
    }
    if (!redis_server_start(&crew->server, extra))
        return false;
    snprintf(crew->url, sizeof crew->url, "%s", crew->server.url);
    return true;
}

static void storm_finish(struct storm *storm, int64_t begin_us)
{
    struct crew *crew = &storm->crew;
    printf("storm %s: %lu kills, %lu stops, seed %llu, isolation %s, %.0f s: %s\n",
           crew->is_redis ? "redis" : "sqlite", storm->kills, storm->stops,
           (unsigned long long)crew->seed, crew->isolation,
           (double)(ledger_now_us() - begin_us) / SECOND_US,
           crew->faults == 0 ? "nothing lost, nothing doubled" : "FAILED");
    redis_server_stop(&crew->server);
    if (crew->faults > 0)
        fprintf(stderr, "storm: the ledgers stay in %s\n", crew->folder);
    else if (storm->is_own_folder)
        crew_folder_remove(crew);
}

int main(int argc, char **argv)
{
    static struct storm storm;
    int64_t begin_us = ledger_now_us();
    storm.crew.seed = (uint64_t)begin_us;
    storm.crew.isolation = "process";
    storm.fsync = "always";
    storm.kills_asked = 100;
    if (!options_read(&storm, argc, argv)) {
        fputs("usage: storm redis|sqlite [--kills N] [--seed S] [--isolation none|process|job]\n"
              "             [--fsync always|everysec] [--folder DIR]\n",
              stderr);
        return 2;
    }
    storm.dice.state = storm.crew.seed;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!programs_find(&storm.crew) || !folder_make(&storm) || !store_open(&storm)) {
        fputs("storm: cannot begin: no folder or no server\n", stderr);
        return 1;
    }
    crew_hire(&storm);
    storm_rage(&storm);
    storm_calm(&storm);
    storm_finish(&storm, begin_us);
    return storm.crew.faults == 0 ? 0 : 1;
}
