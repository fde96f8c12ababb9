#!/usr/bin/env bash
# environment.sh VENV demo|dev : make or refresh a virtual environment. Needs Python 3.11 or newer.
set -euo pipefail
venv=$1 kind=$2
here=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
stamp="$venv/.made-$kind"
wanted=$(cat "$here/pyproject.toml" "$here"/requirements/*.txt "$0" | sha256sum | cut -d' ' -f1)
[ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && exit 0

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "Forebay needs Python 3.11 or newer; $("$python" --version) was found. Set PYTHON=/path/to/python3.11." >&2
    exit 1
}
if [ ! -x "$venv/bin/python" ]; then
    if ! "$python" -m venv "$venv" 2>/dev/null; then
        # Debian and Ubuntu ship venv apart from Python.
        rm -rf "$venv"
        if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
            echo "Installing python3-venv ..." >&2
            apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
            "$python" -m venv "$venv"
        else
            echo "Python's venv module is missing: run  sudo apt-get install python3-venv" >&2
            exit 1
        fi
    fi
fi
pip="$venv/bin/python -m pip --disable-pip-version-check -q"
echo "Preparing $(basename "$venv") for $kind (about a minute the first time) ..." >&2
$pip install --upgrade 'pip>=25.1'
cd "$here"
if [ "$kind" = dev ]; then
    $pip install -e '.[demo,top,completion,testing,bench]' --group dev
    # The plug-in for vLLM is a package of its own; its tests need no vLLM.
    $pip install -e ./integrations/vllm
else
    $pip install -e '.[demo]'
fi
# Wheels that one person publishes: exact files only, and nothing that they would pull in by themselves.
$pip install --require-hashes --no-deps -r requirements/demo.txt
# Imports are compiled now, so that engines do not pay for it at each start.
"$venv/bin/python" -m compileall -q "$venv"/lib/python3.*/site-packages >/dev/null 2>&1 || true
echo "$wanted" >"$stamp"
