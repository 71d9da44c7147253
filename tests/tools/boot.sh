#!/bin/sh
# Boots a Debian root that has systemd: boot.sh ROOT. Its systemd is the first process of namespaces of
# its own and has a group of control groups, whose version 2 this machine must have mounted somewhere;
# there is no network but a loopback. Needs root. Returns with the status by which that systemd exits.
set -eu
[ "$(id -u)" = 0 ] || { echo 'boot.sh: only root may boot another root' >&2; exit 1; }
root=$1
groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -n "$groups" ] || { echo 'boot.sh: this machine has no control groups of version 2' >&2; exit 1; }
group=$groups/culex-boot-$$
mkdir "$group"
trap 'find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || :' EXIT
trap 'exit 1' INT TERM

# What the kernel has only once is not to be changed from there: /sys, /proc/sys, modules, the clock.
# shellcheck disable=SC2016 # of the shells in there
sh -euc 'echo 0 >"$1/cgroup.procs"
exec unshare --mount --pid --fork --cgroup --uts --ipc --net --kill-child sh -euc '\''
hostname culex-test
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup sys/fs/cgroup
mount -t tmpfs -o mode=755 dev dev
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=1777 shm dev/shm
for each in null zero full random urandom tty; do
    : >"dev/$each"
    mount --bind "/dev/$each" "dev/$each"
done
mount -t tmpfs -o mode=755 run run
pivot_root . mnt
umount -l /mnt
mount --make-rshared / # what systemd mounts for a service is to be seen by it, as of credentials
exec setpriv --inh-caps=-sys_module,-sys_time --bounding-set=-sys_module,-sys_time \
    env -i container=unshare PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd
'\'' sh "$2"' sh "$group" "$root"
