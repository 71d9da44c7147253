#!/bin/sh
# Encrypted params and results: no store, log or command line has them, whoever has the keys reads
# them, and nobody else. usage: sealed.sh REPOSITORY BUILD STORE
. "$(dirname "$0")/lib.sh"
store_start
worker=$build/tests/product/process/vault
vault=$worker
key() { head -c 32 /dev/urandom | base64; }
umask 077
old=$(key)
new=$(key)
printf '# the first one seals\nold %s\n' "$old" >"$scratch/keys"
said='IT60X0542811101\|note-of-the-payer\|line-of-it\|3141592653'
iban=IT60X0542811101

# All bytes of the store, as it lies on the disk.
store_bytes() {
    if [ "$store" = sqlite ]; then
        cat "$scratch"/jobs.db "$scratch"/jobs.db-wal
    else
        redis-cli -s "$scratch/redis.sock" save >/dev/null
        cat "$scratch/dump.rdb"
    fi
}
store_shows_nothing() { # store_shows_nothing WHEN
    store_bytes >"$scratch/bytes"
    grep -aq 'culex.sealed' "$scratch/bytes" || fail "$1: nothing is sealed in the store"
    ! grep -aq "$said" "$scratch/bytes" || fail "$1: the store shows it"
}

# --- who pays ---
ldd "$vault" | grep -q 'libsodium' || fail 'vault has no libsodium'
! ldd "$nap" | grep 'sodium\|culex-seal' || fail 'a program that encrypts nothing has it'

# --- without keys ---
unset CULEX_KEYS
! "$vault" enqueue $iban 2>"$scratch/refused" || fail 'enqueued without a key'
grep -q 'ENOKEY: iban: it is encrypted, and there is no key: name the file of keys in CULEX_KEYS' \
    "$scratch/refused" || fail "$(cat "$scratch/refused")"
! "$vault" --drain 2>"$scratch/refused" || fail 'a worker without keys starts'
grep -q 'job vault.pay has encrypted params or results, and this worker has no keys: .*--keys, CULEX_KEYS' \
    "$scratch/refused" || fail "$(cat "$scratch/refused")"
! "$vault" --check-config 2>"$scratch/refused" || fail 'a configuration without keys is good'
VAULT_GREETS_ONLY=1 "$vault" --drain 2>/dev/null || fail 'a worker that needs no keys does not start without'
"$vault" greet nobody
VAULT_GREETS_ONLY=1 "$vault" --drain >"$scratch/greeted" 2>/dev/null
grep -q 'hello nobody' "$scratch/greeted" || fail 'greeted nobody'

# --- with keys ---
export CULEX_KEYS="$scratch/keys"
if [ "$store" = redis ]; then
    redis-cli -s "$scratch/redis.sock" monitor >"$scratch/monitor" &
    wait_until 10 grep -q OK "$scratch/monitor"
fi
for isolation in process none job; do
    id=$("$vault" enqueue $iban)
    store_shows_nothing "$isolation, enqueued"
    worker_start "$isolation" --drain --isolation "$isolation" --log-level debug
    worker_expect 0
    grep -q "paid $iban 3141592653 note-of-the-payer 2" "$scratch/$isolation" || fail "$(cat "$scratch/$isolation".log)"
    ! grep "$said" "$scratch/$isolation.log" || fail "$isolation: in the log"
    store_shows_nothing "$isolation, done"
    expect "result, $isolation" "receipt-of-$iban" "$("$vault" wait "$id")"
    "$vault" leaky $iban >/dev/null
    worker_start "leaky_$isolation" --drain --isolation "$isolation" --log-level debug
    worker_expect 0
    log_has "leaky_$isolation" 'no account \[secret\]'
    ! grep "$said" "$scratch/leaky_$isolation.log" || fail "$isolation: in the log of what failed"
    store_shows_nothing "$isolation, failed"
    "$vault" chain $iban >/dev/null
    worker_start "chain_$isolation" --drain --isolation "$isolation"
    worker_expect 0
    expect "runs of the chain, $isolation" 3 "$(grep -c "paid $iban" "$scratch/chain_$isolation")"
    store_shows_nothing "$isolation, chain"
done
if [ "$store" = redis ]; then
    grep -q 'culex.sealed' "$scratch/monitor" || fail 'the monitor saw nothing sealed'
    ! grep -q "$said" "$scratch/monitor" || fail 'on the way to the server'
fi

# One idempotency key, one run, though no two boxes are alike.
expect 'a repeated enqueue' "$("$vault" enqueue $iban once)" "$("$vault" enqueue $iban once)"

# --- the old key goes ---
sealed_by_old=$("$vault" enqueue $iban)
printf 'new %s\nold %s\n' "$new" "$old" >"$scratch/keys"
sealed_by_new=$("$vault" enqueue $iban)
expect 'params for who has their key' "$iban" "$("$vault" show "$sealed_by_old")"
worker_start rotated --drain
worker_expect 0
expect 'by the old key' "receipt-of-$iban" "$("$vault" wait "$sealed_by_old")"
expect 'by the new key' "receipt-of-$iban" "$("$vault" wait "$sealed_by_new")"
printf 'new %s\n' "$new" >"$scratch/keys"
expect 'results are sealed by the first key' "receipt-of-$iban" "$("$vault" wait "$sealed_by_old")"

# --- a run whose key is not there waits for a worker that has it ---
printf 'old %s\n' "$old" >"$scratch/keys"
id=$("$vault" enqueue $iban)
printf 'new %s\n' "$new" >"$scratch/keys"
! "$vault" show "$id" 2>"$scratch/refused" || fail 'opened without its key'
grep -q "ENOKEY: iban: sealed by key 'old'" "$scratch/refused" || fail "$(cat "$scratch/refused")"
worker_start unknown --idle-wait 10ms
log_says() { grep -q "$2" "$scratch/$1.log"; }
wait_until 20 log_says unknown "iban: sealed by key 'old', which is not among the keys"
worker_stop unknown 0
"$vault" --doctor >"$scratch/doctor" 2>&1 || :
grep -q 'queue-no-key' "$scratch/doctor" || fail "the doctor knows of no missing key: $(cat "$scratch/doctor")"
grep -q 'give the workers that key' "$scratch/doctor" || fail "$(cat "$scratch/doctor")"
printf 'new %s\nold %s\n' "$new" "$old" >"$scratch/keys"
worker_start found --drain
worker_expect 0
expect 'found' "receipt-of-$iban" "$("$vault" wait "$id")"

# --- another key of that id: the same ---
id=$("$vault" enqueue $iban)
printf 'new %s\n' "$old" >"$scratch/keys"
worker_start other --idle-wait 10ms
wait_until 20 log_says other "given back.*iban: sealed by another key of the id 'new' than the one among the keys"
worker_stop other 0
printf 'new %s\n' "$new" >"$scratch/keys"
worker_start same --drain
worker_expect 0
expect 'by its own key' "receipt-of-$iban" "$("$vault" wait "$id")"

# --- the key in place of its file's name ---
printf 'new %s\n' "$new" >"$scratch/keys"
given="$(cat "$scratch/keys")"
printf 'keys = %s\n' "$given" >"$scratch/conf"
is_not_shown() { # is_not_shown WHAT COMMAND...
    what=$1
    shift
    ! "$@" >"$scratch/refused" 2>&1 || fail "$what is taken"
    grep -q 'looks like a .*key' "$scratch/refused" || fail "$what: $(cat "$scratch/refused")"
    ! grep -qF "$new" "$scratch/refused" || fail "$what is shown"
}
is_not_shown 'a variable' env CULEX_KEYS="$given" "$vault" --drain
is_not_shown 'the variable of a client' env CULEX_KEYS="$given" "$vault" enqueue $iban
is_not_shown 'an option' "$vault" --keys "$given" --check-config
is_not_shown 'an option without quotes' "$vault" --keys $given --check-config
is_not_shown 'a bare key' "$vault" --keys "$new" --check-config
is_not_shown 'a line of a file' env -u CULEX_KEYS "$vault" --config "$scratch/conf" --check-config

# --- a file that is not as it must be ---
chmod 640 "$scratch/keys"
! "$vault" enqueue $iban 2>"$scratch/refused" || fail 'a file that others may read'
grep -q 'mode 0640.*chmod 600' "$scratch/refused" || fail "$(cat "$scratch/refused")"
! "$vault" --drain 2>"$scratch/refused" || fail 'a worker takes a file that others may read'
grep -q 'mode 0640.*chmod 600' "$scratch/refused" || fail "$(cat "$scratch/refused")"
chmod 600 "$scratch/keys"
printf 'new %s\nold hunter2\n' "$new" >"$scratch/keys"
! "$vault" enqueue $iban 2>"$scratch/refused" || fail 'a key that is none'
grep -q 'keys: line 2: behind the id stands no key' "$scratch/refused" || fail "$(cat "$scratch/refused")"
! grep -q hunter2 "$scratch/refused" || fail 'the refusal shows what it has read'
! CULEX_KEYS="$scratch/nowhere" "$vault" enqueue $iban 2>"$scratch/refused" || fail 'no file'
grep -q 'nowhere: No such file' "$scratch/refused" || fail "$(cat "$scratch/refused")"
