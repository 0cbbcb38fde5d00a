#!/usr/bin/env bash
# Leaves Debian packages in dist/: libtenon0, libtenon-dev, tenon (the command line), tenon-server and python3-tenon, for
# the system that it runs on; checks them with lintian. Installs missing packages and builds first.
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

install_build_packages
install_server_packages
install_packages debhelper dh-python help2man lintian
tensorflow_python  # its nanobind compiles the extension module
abi() { "$1" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))'; }
if [ "$(abi "$TENON_PYTHON")" != "$(abi /usr/bin/python3)" ]; then
  echo "$TENON_PYTHON makes modules $(abi "$TENON_PYTHON"); the system's Python takes $(abi /usr/bin/python3)" >&2
  exit 1
fi
multiarch=$(dpkg-architecture -q DEB_HOST_MULTIARCH)
version=$(sed -n 's/^project(tenon VERSION \([^ ]*\).*/\1/p' "$TENON_ROOT/CMakeLists.txt")
maintainer="${DEBFULLNAME:-$(git -C "$TENON_ROOT" log -1 --format=%an)} <${DEBEMAIL:-$(git -C "$TENON_ROOT" log -1 --format=%ae)}>"

say "Building"
configure "$TENON_BUILD" -DCMAKE_BUILD_TYPE=Release -DTENON_PYTHON="$TENON_PYTHON" -DTENON_PORTABLE=OFF \
  -DCMAKE_INSTALL_LIBDIR="lib/$multiarch"
cmake --build "$TENON_BUILD" -j "$TENON_JOBS" --target tenon tenon_static tenon_device_abi tenon_cli tenon_python tenon_server

say "Packing"
mkdir -p "$TENON_ROOT/dist"
rm -f "$TENON_ROOT"/dist/*.deb
stage=$TENON_BUILD/debs
rm -rf "$stage"
mkdir -p "$stage"
cp -r "$TENON_ROOT/tools/debian" "$stage/debian"
sed -i "s|@MAINTAINER@|$maintainer|" "$stage/debian/control"
{
  echo "tenon ($version) unstable; urgency=medium"
  echo
  "$TENON_PYTHON" - "$TENON_ROOT/CHANGELOG.md" <<'END'
import re, sys, textwrap
for entry in re.findall(r"^- (.*(?:\n  .*)*)", open(sys.argv[1]).read(), re.MULTILINE):
    print(textwrap.fill(" ".join(entry.split()), 78, initial_indent="  * ", subsequent_indent="    "))
END
  echo
  echo " -- $maintainer  $(git -C "$TENON_ROOT" log -1 --format=%cD)"
} >"$stage/debian/changelog"
# nanobind's code is in the extension module.
{
  echo
  echo "Files: nanobind/*"
  echo "Copyright: the authors of nanobind"
  echo "License: BSD-3-clause-nanobind"
  "$TENON_PYTHON" -c 'import importlib.metadata as m
print(next(f.locate() for f in m.files("nanobind") if f.name.startswith("LICENSE")).read_text().strip())' |
    sed 's/^$/./; s/^/ /'
} >>"$stage/debian/copyright"

# What programs that link the archive need: the packages of the libraries that its .pc file names.
mapfile -t names < <(sed -n 's/^Libs: .*libtenon.a //p' "$TENON_BUILD/include/tenon-static.pc" | tr ' ' '\n' | sed 's/^-l//')
static=$(for name in "${names[@]}"; do
  dpkg-query -S "*/lib$name.so" 2>/dev/null | sed -n 's/:.*//p' | grep -- -dev || true
done | grep -v -e '^libc6-dev' -e '^libgcc' -e '^libstdc++' | sort -u | paste -sd,)

nanobind=$("$TENON_PYTHON" -c 'import importlib.metadata as m; print(m.version("nanobind"))')
(cd "$stage" && TENON_SBOM=$TENON_ROOT/tools/sbom.py TENON_NANOBIND=$nanobind TENON_BUILD=$TENON_BUILD TENON_DIST=$TENON_ROOT/dist TENON_STATIC=$static \
  SOURCE_DATE_EPOCH=$(git -C "$TENON_ROOT" log -1 --format=%ct) dpkg-architecture -c debian/rules binary >log 2>&1) || {
  tail -n 30 "$stage/log" >&2
  exit 1
}

say "Checking"
lintian --allow-root --fail-on error,warning "$TENON_ROOT"/dist/*.deb
for package in "$TENON_ROOT"/dist/*.deb; do
  echo "$(basename "$package"): $(($(stat -c %s "$package") / 1000)) kB"
done
