#!/usr/bin/env bash
# debs.sh: installs the packages of dist/ (tools/debs.sh) into a new Debian of the system's release, made by
# debootstrap in a folder, and there builds and runs tests/consumer, the examples, the command line and the Python
# package. Needs root, or sudo.
. "$(dirname "${BASH_SOURCE[0]}")/../tools/lib/common.sh"
. "$TENON_ROOT/tools/lib/clean_root.sh"

# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
clean_root "$release"
root=$CLEAN_ROOT

say "Installing the packages"
as_root mkdir "$root/debs" "$root/src"
as_root cp "$TENON_ROOT"/dist/*.deb "$root/debs"
inside apt-get update -qq
inside sh -c 'apt-get install -y -qq --no-install-recommends /debs/tenon_*.deb /debs/libtenon0_*.deb /debs/tenon-server_*.deb /debs/python3-tenon_*.deb' >/dev/null
as_root mkdir -p "$root/src/tests/models" "$root/src/docs"
as_root cp -r "$TENON_ROOT/examples" "$root/src/"
as_root cp "$TENON_ROOT/docs/C_API.md" "$root/src/docs/"
as_root cp -r "$TENON_ROOT/tests/consumer" "$root/src/tests/"
for model in mlp digits generate; do as_root cp -r "$TENON_ROOT/tests/models/$model" "$root/src/tests/models/"; done

say "Running without development packages"
inside tenon dump /src/tests/models/digits/saved_model --stats
inside python3 -m tenon --version
inside python3 /src/examples/classify.py /src/tests/models/digits | tail -n 1
inside test ! -e /usr/include/tenon
inside sh -c 'mkdir -p /tmp/mlp && cp -r /src/tests/models/mlp/saved_model /tmp/mlp/1
  tenon serve --port=0 --rest_api_port=8501 --model_base_path=/tmp/mlp & server=$!
  for try in $(seq 50); do sleep 0.2; python3 -c "
import urllib.request as r
print(r.urlopen(\"http://127.0.0.1:8501/v1/models/default\").read())" 2>/dev/null && answered=yes && break; done
  kill $server && wait $server && [ "$answered" = yes ]'

say "Building programs"
inside sh -c 'apt-get install -y -qq /debs/libtenon-dev_*.deb g++ cmake ninja-build pkg-config' >/dev/null
inside /src/tests/consumer/use.sh /src/tests/models/mlp/saved_model

say "Removing the packages"
inside apt-get purge -y -qq tenon tenon-server libtenon0 libtenon-dev python3-tenon >/dev/null
left=$(inside find / -xdev -name '*tenon*' -not -path '/src/*' -not -path '/debs/*' -not -path '/proc/*' -not -path '/var/lib/apt/*')
[ -z "$left" ] || { echo "left behind: $left" >&2; exit 1; }
echo "the packages work in a new $release"
