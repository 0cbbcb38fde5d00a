# Sourced by scripts that test in a new Debian, after common.sh.
# shellcheck shell=bash

# clean_root RELEASE: sets CLEAN_ROOT, the folder of a new Debian of that release, made by debootstrap, which the end of the
# script deletes. What debootstrap installs is kept in TENON_CACHE for the next time. Needs root, or sudo.
clean_root() {
  local release=$1 mirror base=$TENON_CACHE/debian-$1.tar
  install_packages debootstrap
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)
  CLEAN_ROOT=$(mktemp -d)
  trap 'as_root rm -rf --one-file-system "$CLEAN_ROOT"' EXIT
  if [ ! -e "$base" ]; then
    say "Making a Debian $release in $CLEAN_ROOT"
    mkdir -p "$TENON_CACHE"
    as_root debootstrap --variant=minbase --include=ca-certificates "$release" "$CLEAN_ROOT" "$mirror" >"$base.log" 2>&1 || {
      tail -n 20 "$base.log" >&2
      exit 1
    }
    as_root tar -C "$CLEAN_ROOT" -cf "$base.new" . && mv "$base.new" "$base"
  else
    as_root tar -C "$CLEAN_ROOT" -xf "$base"
  fi
  # How this system reaches its mirrors.
  as_root cp -L /etc/resolv.conf "$CLEAN_ROOT/etc/"
  grep -lE '^ *Acquire' /etc/apt/apt.conf.d/* | while read -r file; do as_root cp "$file" "$CLEAN_ROOT/etc/apt/apt.conf.d/"; done || true
}

# inside COMMAND…: runs it in that Debian.
inside() {
  as_root env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive TENON_JOBS="$TENON_JOBS" \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    unshare --pid --fork --mount-proc --root="$CLEAN_ROOT" "$@"
}
