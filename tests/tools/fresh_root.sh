#!/bin/sh
# Runs both README commands in a fresh minimal Debian: fresh_root.sh RELEASE [VERB...]
# (bookworm, trixie; verbs default to "demo test"). Needs root, debootstrap and the package
# servers. The committed state is what is tested. The root is removed afterwards.
set -eu
[ "$(id -u)" = 0 ] || { echo 'fresh_root.sh: only root may change into another root' >&2; exit 1; }
release=$1
shift
[ $# -gt 0 ] || set -- demo test
repository=$(cd "$(dirname "$0")/../.." && pwd)
root=$(mktemp -d)
# Nothing may outlive its mounts: the private mount namespace ends with the shell inside it.
cleanup() { rm -rf --one-file-system "$root" "$root.log"; }
trap cleanup EXIT
trap 'exit 1' INT TERM

debootstrap --variant=minbase "$release" "$root" >"$root.log" 2>&1 || { tail "$root.log" >&2; exit 1; }
rm -f "$root.log"
chmod 755 "$root" # some tests become another user
echo '127.0.0.1 localhost' >"$root/etc/hosts" # as an installed one has it
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/thrown-away" # what is lost with the power is not missed
git clone -q --no-hardlinks "$repository" "$root/culex"
for verb; do
    echo "fresh $release: ./dev $verb"
    # The root is a mount of its own, for tests that mount disks of their own.
    unshare --mount --pid --fork sh -euc '
        mount --bind "$1" "$1"
        mount -t proc proc "$1/proc"
        mount --rbind /dev "$1/dev"
        exec chroot "$1" sh -c "cd /culex && exec ./dev $2"' sh "$root" "$verb"
done
