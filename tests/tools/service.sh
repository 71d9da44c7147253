#!/bin/sh
# What Debian's packages of Culex do under systemd, from their installation to their purge: package.sh
# runs it in a fresh root that it has booted, where /packages has them, and apt's cache the others.
set -eu
unit=culex-worker@slow.service
dropins=/etc/systemd/system
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 CULEX_URL=sqlite:/var/lib/culex/jobs.db

say() { echo "service.sh: $*"; }

die() {
    say "$*"
    journalctl --no-pager -n 60
    exit 1
}

expect() { # WHAT WANTED FOUND
    [ "$2" = "$3" ] || die "$1: '$3', where '$2' should be"
    say "$1: ${3:-none}"
}

wait_for() { # WHAT COMMAND...
    what=$1
    shift
    for _ in $(seq 1200); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    die "waited in vain: $what"
}

property() { systemctl show -P "$1" "$unit"; }
as_culex() { runuser -u culex -- "$@"; }
state() { as_culex culex show "$1" --json | sed -n 's/.*"state":"\([a-z]*\)".*/\1/p' | head -n 1; }
is_state() { [ "$(state "$1")" = "$2" ]; }
is_main_another() { [ "$(property MainPID)" != "$1" ] && [ "$(property ActiveState)" = active ]; }
journal_has() { journalctl --no-pager -u "$unit" | grep -q -e "$1"; }
page() { curl -s -o /packages/page -w '%{http_code}' "$@" http://127.0.0.1:7420/api/v1/queues; }
is_page() { [ "$(page)" = "$1" ]; }

installed() {
    say 'installing'
    apt-get install -y --no-install-recommends /packages/*.deb >/packages/apt 2>&1 ||
        { tail /packages/apt; die 'apt-get install'; }
    expect 'the user' culex "$(id -nu culex)"
    expect 'the console, not configured' 'disabled inactive' \
        "$(systemctl is-enabled culex-console || :) $(systemctl is-active culex-console || :)"
}

worker_made() {
    mkdir /packages/slow
    cd /packages/slow
    cat >slow.job <<'END'
/// Takes as long as it is told.
job slow {
    params { duration length; }
    keep   success 1h;
}
END
    cat >worker.c <<'END'
#include <time.h>
#include "slow_job.h"
static culex_outcome slow(culex_run *run, const slow_job *job, void *user)
{
    struct timespec left = {.tv_sec = job->length / CULEX_SECOND};
    (void)run, (void)user;
    while (nanosleep(&left, &left) != 0)
        ;
    return CULEX_DONE;
}
static int setup(culex_worker *worker, void *user) { return slow_job_register(worker, slow, user); }
int main(int argc, char **argv) { return culex_worker_main(argc, argv, setup, NULL); }
END
    culexc gen --out . slow.job
    # shellcheck disable=SC2046
    gcc -D_GNU_SOURCE -o /usr/local/bin/slow worker.c slow_job.c $(pkg-config --cflags --libs culex)
    mkdir /etc/culex
    echo 'concurrency = 2' >/etc/culex/slow.conf
    (umask 077 && echo "$CULEX_URL" >/etc/culex/slow.url && cp /etc/culex/slow.url /etc/culex/console.url)
}

worker_runs() {
    expect 'what systemd says of the units' '' \
        "$(systemd-analyze verify --man=no "$unit" culex-console.service 2>&1)"
    systemctl start "$unit" || die 'systemctl start'
    expect 'the worker, as it says' 'notify active serves 1 queue' \
        "$(property Type) $(property ActiveState) $(property StatusText)"
    main=$(property MainPID)
    expect 'its user' culex "$(ps -o user= -p "$main")"
    expect 'its URL' "CULEX_URL_FILE=/run/credentials/$unit/store-url" \
        "$(tr '\0' '\n' <"/proc/$main/environ" | grep '^CULEX_URL')"
    run=$(as_culex culex enqueue slow length=0s)
    as_culex culex wait "$run"
    echo 'concurrency = 1' >/etc/culex/slow.conf
    systemctl reload "$unit"
    wait_for 'the options that were read again' journal_has 'configuration: concurrency is 1'
    expect 'the worker after a reload' "$main active" "$(property MainPID) $(property ActiveState)"
    journalctl --no-pager -o cat -u "$unit"
    ! journal_has 'Read-only file system\|Permission denied' || die 'the unit takes something away that is needed'
    expect 'the level of a line' '6' "$(journalctl --no-pager -o json -u "$unit" |
        sed -n '/configuration: concurrency is 1/s/.*"PRIORITY":"\([0-9]\)".*/\1/p')"
    ! journal_has '<[0-9]>' || die 'a level stands in the text of a line'
    expect 'files of logs' '' "$(find /var/log -iname '*culex*')"
}

worker_stops() {
    run=$(as_culex culex enqueue slow length=3s)
    wait_for 'a run at work' is_state "$run" active
    systemctl stop "$unit"
    expect 'a run that was at work at a stop' 'done' "$(state "$run")"
    expect 'the stopped worker' 'inactive success 0' \
        "$(property ActiveState) $(property Result) $(property ExecMainStatus)"
}

worker_hangs() {
    mkdir "$dropins/$unit.d"
    printf '[Service]\nWatchdogSec=2\n' >"$dropins/$unit.d/watchdog.conf"
    systemctl daemon-reload
    systemctl start "$unit"
    runs=
    for _ in 1 2 3; do runs="$runs $(as_culex culex enqueue slow length=1s)"; done
    main=$(property MainPID)
    kill -STOP "$main"
    wait_for 'a worker in place of the one that hangs' is_main_another "$main"
    wait_for 'the watchdog' journal_has 'Watchdog timeout'
    main=$(property MainPID)
    kill -KILL "$main"
    wait_for 'a worker in place of the one that was killed' is_main_another "$main"
    for each in $runs; do as_culex culex wait "$each" || die 'a run is lost'; done
    expect 'runs that are done, of 5' 5 "$(as_culex culex queues --json | sed -n 's/.*"dead":0.*"done":\([0-9]*\).*/\1/p')"
    rm -r "$dropins/$unit.d"
    systemctl daemon-reload
}

worker_refuses() {
    echo 'concurency = 1' >>/etc/culex/slow.conf
    ! systemctl restart "$unit" 2>/dev/null || die 'a bad file of options was taken'
    expect 'a worker with a bad file of options' 'failed 2 0' \
        "$(property ActiveState) $(property ExecMainStatus) $(property NRestarts)"
    echo 'concurrency = 1' >/etc/culex/slow.conf
    systemctl reset-failed "$unit"
    systemctl enable --now "$unit" 2>/dev/null
}

console_runs() {
    systemctl start culex-console
    wait_for 'the console' is_page 200
    say "the console: $(cat /packages/page)"
    mkdir "$dropins/culex-console.service.d"
    cat >"$dropins/culex-console.service.d/tokens.conf" <<'END'
[Service]
LoadCredential=tokens:/etc/culex/console.tokens
Environment="OPTIONS=--tokens %d/tokens --listen 0.0.0.0:7420"
END
    (umask 077 && echo 'read 0123456789abcdef me' >/etc/culex/console.tokens)
    systemctl daemon-reload
    systemctl restart culex-console
    wait_for 'the console, with tokens' is_page 401
    expect 'with a token' 200 "$(page -H 'Authorization: Bearer 0123456789abcdef')"
    for each in "$unit" culex-console.service; do
        systemd-analyze security --no-pager "$each" | tail -n 1
    done
}

upgraded() {
    main=$(property MainPID) console=$(systemctl show -P MainPID culex-console)
    apt-get install -y --reinstall /packages/culex-tools_*.deb >/packages/apt 2>&1 ||
        { tail /packages/apt; die 'apt-get install --reinstall'; }
    expect 'the worker after an upgrade' "$main active" "$(property MainPID) $(property ActiveState)"
    wait_for 'the console after an upgrade' is_page 401
    [ "$console" != "$(systemctl show -P MainPID culex-console)" ] || die 'the console is the old one'
}

purged() {
    apt-get purge -y 'libculex*' 'culex*' >/packages/apt 2>&1 || { tail /packages/apt; die 'apt-get purge'; }
    expect 'processes of the user, after a purge' '' "$(ps -o pid= -u culex)"
    expect 'a store and its user, after a purge' 'culex culex' \
        "$(id -nu culex) $(stat -c %U /var/lib/culex/jobs.db)"
    rm -r /var/lib/culex /etc/culex "$dropins/culex-console.service.d"
    apt-get install -y --no-install-recommends /packages/culex-tools_*.deb /packages/libculex0_*.deb \
        >/packages/apt 2>&1 || { tail /packages/apt; die 'apt-get install'; }
    apt-get purge -y 'libculex*' 'culex*' >/packages/apt 2>&1 || { tail /packages/apt; die 'apt-get purge'; }
    expect 'what is left: the user' '' "$(getent passwd culex || getent group culex || :)"
    expect 'files' '' "$(find / -xdev -iname '*culex*' ! -path '/packages/*' ! -path '/proc/*' ! -path '/var/lib/apt/*')"
    expect 'units' '' "$(systemctl list-units --all --type=service --no-legend '*culex*'; systemctl list-unit-files --no-legend '*culex*')"
    expect 'packages' '' "$(dpkg-query -W -f '${Package} ' 2>/dev/null | tr ' ' '\n' | grep culex || :)"
}

installed
worker_made
worker_runs
worker_stops
worker_hangs
worker_refuses
console_runs
upgraded
purged
