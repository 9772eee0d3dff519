#!/usr/bin/env bash
# Label: slow
# A .glb in Blender, where there is one: it imports, and its vertices are where our own skinning has them.
set -euo pipefail
pliant=${PLIANT:?} web=${SOURCE_DIR:?}/tests/web
if ! command -v blender >/dev/null; then
    echo "skipped: there is no Blender"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# check SCENE FRAMES FRAMES_PER_SECOND
check() {
    local scene=$SOURCE_DIR/scenes/$1.json last=$2 rate=$3 frames=()
    "$pliant" run "$scene" -q -n "$last" -o "$1.glb"
    for frame in 0 $((last / 2)) "$last"; do
        "$pliant" run "$scene" -q -n "$frame" -o "$1-$frame.obj"
        frames+=("$frame=$1-$frame.obj")
    done
    if ! HOME=$work blender -b --factory-startup --python-exit-code 1 -P "$web/blender.py" -- \
        "$1.glb" "$rate" "${frames[@]}" >log 2>&1; then
        tail -n 30 log
        exit 1
    fi
    grep '^blender: ' log
}

check rope 30 30
if [[ -n ${PLIANT_THOROUGH:-} ]]; then
    check crowd-52 120 30
fi
echo "done"
