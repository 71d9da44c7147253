#!/bin/sh
# Builds the images of integration/container and runs a job in them: container.sh [RELEASE]
# (bookworm, trixie). Needs root, debootstrap, buildah and the package servers. The committed state is
# what is tested; the base image is a fresh minimal Debian. All of it is removed afterwards.
set -eu
[ "$(id -u)" = 0 ] || { echo 'container.sh: only root may make a Debian root' >&2; exit 1; }
release=${1:-bookworm}
repository=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf --one-file-system "$folder"' EXIT
trap 'exit 1' INT TERM
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot

buildah() { command buildah --root "$folder/images" --runroot "$folder/run" "$@"; }

image() { # NAME CONTEXT [ARGUMENT...]
    name=$1 context=$2
    shift 2
    echo "container.sh: $name"
    buildah bud --pull=never --tag "$name" "$@" "$context" >"$folder/log" 2>&1 ||
        { tail -n 40 "$folder/log" >&2; exit 1; }
}

in_image() { # IMAGE COMMAND...
    from=$1
    shift
    container=$(buildah from --pull=never "$from")
    buildah run "$container" -- "$@"
    buildah rm "$container" >"$folder/log"
}

debootstrap --variant=minbase "$release" "$folder/debian" >"$folder/log" 2>&1 || { tail "$folder/log" >&2; exit 1; }
mkdir "$folder/base"
tar -C "$folder/debian" -cf "$folder/base/debian.tar" .
rm -rf --one-file-system "$folder/debian"
printf 'FROM scratch\nADD debian.tar /\n' >"$folder/base/Containerfile"
image "docker.io/library/debian:$release-slim" "$folder/base"

git clone -q --no-hardlinks "$repository" "$folder/culex"
cd "$folder/culex/integration/container"
image culex-dev "$folder/culex" --file Containerfile --target dev --build-arg "DEBIAN=$release-slim"
image culex "$folder/culex" --file Containerfile --build-arg "DEBIAN=$release-slim"
image hello "$folder/culex/examples/hello" --file Containerfile.worker
in_image culex-dev culexc --version
in_image culex culex --version
# shellcheck disable=SC2016 # of the shell in there
in_image hello sh -euc 'export CULEX_URL=sqlite:/tmp/jobs.db
    [ "$(id -un)" = culex ]
    worker --drain
    culex enqueue hello name=container
    worker --drain | grep "Hello, container!"
    culex queues'
