# Sourced by scripts that test in a new Debian, after common.sh.
# shellcheck shell=bash

# clean_root RELEASE: sets CLEAN_ROOT, the folder of a new Debian of that release, made by debootstrap, which the end of the
# script deletes. What debootstrap installs is kept in TENON_CACHE for the next time. If TENON_CLEAN_ROOT names a folder,
# the Debian is made there unless it exists, and is kept. Needs root, or sudo.
clean_root() {
  local release=$1 mirror base=$TENON_CACHE/debian-$1.tar
  install_packages debootstrap
  if [ -n "${TENON_CLEAN_ROOT:-}" ]; then
    CLEAN_ROOT=$(realpath -m "$TENON_CLEAN_ROOT")
    if [ -e "$CLEAN_ROOT/etc/os-release" ]; then return 0; fi
    mkdir -p "$CLEAN_ROOT"
  else
    CLEAN_ROOT=$(mktemp -d)
    trap 'as_root rm -rf --one-file-system "$CLEAN_ROOT"' EXIT
  fi
  if [ ! -e "$base" ]; then
    say "Making a Debian $release in $CLEAN_ROOT"
    mkdir -p "$TENON_CACHE"
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)
    as_root debootstrap --variant=minbase --include=ca-certificates "$release" "$CLEAN_ROOT" "$mirror" >"$base.log" 2>&1 || {
      tail -n 20 "$base.log" >&2
      exit 1
    }
    as_root tar -C "$CLEAN_ROOT" -cf "$base.new" . && mv "$base.new" "$base"
  else
    as_root tar -C "$CLEAN_ROOT" -xf "$base"
  fi
  as_root chmod 755 "$CLEAN_ROOT"  # mktemp's folder is root's alone; some tests run as another user
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

# command_inside FILE PROGRAM FOLDER…: writes FILE, a command that runs a program of that Debian with these folders at the
# same place as here, and /proc. They are mounted for that command alone, so deleting the Debian cannot delete what is in them.
command_inside() {
  local file=$1 program=$2
  shift 2
  as_root tee "$file" >/dev/null <<END
#!/bin/sh
[ "\$(id -u)" -eq 0 ] || exec sudo --preserve-env=TF_ENABLE_ONEDNN_OPTS "\$0" "\$@"
exec unshare --mount --propagation private sh -ec '
  for folder in /proc $*; do
    mkdir -p "$CLEAN_ROOT\$folder"
    mount --bind "\$folder" "$CLEAN_ROOT\$folder"
  done
  exec chroot "$CLEAN_ROOT" "$program" "\$@"' sh "\$@"
END
  as_root chmod +x "$file"
}
