#!/bin/sh
# Builds Debian's packages on RELEASE (bookworm, trixie) and uses them under the systemd of a fresh
# root, from their installation to their purge: package.sh [RELEASE]. Needs root, debootstrap and the
# package servers. The committed state is what is tested, or the packages in the folder that
# CULEX_PACKAGES names. All of it is removed afterwards.
set -eu
[ "$(id -u)" = 0 ] || { echo 'package.sh: only root may make a Debian root' >&2; exit 1; }
release=${1:-bookworm}
tools=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf --one-file-system "$folder"' EXIT
trap 'exit 1' INT TERM

say() { echo "package.sh: $*"; }

quietly() { "$@" >"$folder/log" 2>&1 || { tail -n 60 "$folder/log" >&2; exit 1; }; }

root_make() { # NAME PACKAGES
    say "a root of $release, $1"
    quietly debootstrap --variant=minbase ${2:+"--include=$2"} "$release" "$folder/$1"
    echo force-unsafe-io >"$folder/$1/etc/dpkg/dpkg.cfg.d/thrown-away"
}

# Its mounts end with the shell inside.
# shellcheck disable=SC2016 # of the shells in there
in_root() { # NAME COMMAND
    unshare --mount --pid --fork sh -euc '
        mount -t proc proc "$1/proc"
        mount --rbind /dev "$1/dev"
        exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive sh -euc "$2"' sh "$folder/$1" "$2"
}

packages_build() {
    root_make build
    mkdir -p "$folder/build/src/culex"
    git -C "$tools/../.." archive HEAD | tar -x -C "$folder/build/src/culex"
    quietly in_root build 'apt-get update
        apt-get install -y --no-install-recommends build-essential fakeroot lintian
        apt-get build-dep -y --no-install-recommends /src/culex'
    say 'dpkg-buildpackage'
    quietly in_root build "cd /src/culex && DEB_BUILD_OPTIONS=parallel=$(nproc) dpkg-buildpackage -us -uc -b"
    say 'lintian'
    in_root build 'lintian --allow-root --fail-on error,warning /src/culex_*.changes'
    mkdir "$folder/packages"
    mv "$folder"/build/src/*.deb "$folder/packages"
    rm -rf --one-file-system "$folder/build"
}

# The network is left outside, so what they depend on is downloaded before.
machine_make() {
    root_make machine systemd,systemd-sysv,dbus,procps,curl,gcc,libc6-dev,pkg-config
    mkdir "$folder/machine/packages"
    cp "$folder"/packages/*.deb "$tools/service.sh" "$folder/machine/packages"
    rm -f "$folder"/machine/packages/*-dbgsym_*
    quietly in_root machine 'apt-get update
        apt-get install -y --no-install-recommends --download-only /packages/*.deb'
    cat >"$folder/machine/etc/systemd/system/service-test.service" <<'END'
[Unit]
SuccessAction=exit
FailureAction=exit
[Service]
Type=exec
ExecStart=/bin/sh /packages/service.sh
StandardOutput=file:/packages/log
StandardError=inherit
[Install]
WantedBy=multi-user.target
END
    quietly in_root machine 'systemctl enable service-test.service'
}

if [ -n "${CULEX_PACKAGES:-}" ]; then
    mkdir "$folder/packages"
    cp "$CULEX_PACKAGES"/*.deb "$folder/packages"
else
    packages_build
fi
machine_make
say 'booting it'
status=0
timeout --foreground 900 sh "$tools/boot.sh" "$folder/machine" || status=$?
cat "$folder/machine/packages/log"
[ "$status" = 0 ] || { say "the packages do not work on $release" >&2; exit 1; }
