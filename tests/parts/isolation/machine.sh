#!/bin/sh
# Runs the tests of children on a machine of its own, whose kernel counts memory in
# control groups: few machines that build software let a test have such groups.
#
#     machine.sh BUILD KERNEL
#
# The machine is emulated (qemu, no privilege needed), its disk is the tests, their libraries and
# busybox. First test_cgroup, then all the others of this folder inside a control group, at last a
# worker.
set -eu
build=$1
kernel=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
disk=$work/disk
mkdir -p "$disk/bin" "$disk/proc" "$disk/sys" "$disk/dev" "$disk/tmp"
cp "$(command -v busybox)" "$disk/bin/busybox"

copy() {
    mkdir -p "$disk$(dirname "$1")"
    cp -L "$1" "$disk$1"
}

for test in "$build"/tests/parts/isolation/test_*[a-z] "$build/tests/product/process/nap"; do
    case $test in *.p) continue ;; esac
    copy "$test"
    ldd "$test" | grep -o '/[^ ]*' | while read -r library; do
        [ -e "$disk$library" ] || copy "$library"
    done
done
libc=$(ldd "$build/tests/parts/isolation/test_cgroup" | grep -o '/[^ ]*/libc\.so\.6')
copy "${libc%/*}/libgcc_s.so.1" # backtrace() loads it

cat >"$disk/init" <<END
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs tmpfs /dev/shm
mount -t cgroup2 cgroup /sys/fs/cgroup
echo "kernel \$(uname -r)"
cd $build/tests/parts/isolation
run() {
    "\$@" >/tmp/log 2>&1
    status=\$?
    grep -v '^\[ RUN\|^\[=' /tmp/log
    echo "status \$status: \$*"
}
mkdir /sys/fs/cgroup/pen
run ./test_cgroup
run ./test_cgroup memory
export PEN_CGROUP=/sys/fs/cgroup/pen
for test in faults passing ends liars sweep traces; do
    run ./test_\$test
done
unset PEN_CGROUP
export CULEX_URL=sqlite:/tmp/jobs.db CULEX_CGROUP=/sys/fs/cgroup/nap
cd $build/tests/product/process
mkdir /sys/fs/cgroup/nap
run ./nap enqueue wink
run ./nap --doctor
run ./nap enqueue bomb
run ./nap --drain
run rmdir /sys/fs/cgroup/nap
poweroff -f
END
chmod +x "$disk/init"
(cd "$disk" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/disk.gz"

timeout 900 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 2048 -nographic \
    -no-reboot -net none -kernel "$kernel" -initrd "$work/disk.gz" \
    -append 'console=ttyS0 quiet panic=-1 loglevel=0' </dev/null | tr -d '\r' >"$work/log"
cat "$work/log"
passed=$(grep -c '^status 0:' "$work/log")
[ "$passed" = 13 ] || { echo "$passed of 13 steps went well" >&2; exit 1; }
