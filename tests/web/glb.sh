#!/usr/bin/env bash
# Label: slow
# .glb files against other programs: Khronos' validator finds nothing wrong, and three.js shows every vertex where our own
# skinning has it, at three times of a run. Thorough runs take more scenes, and a browser (Chromium) does it once more.
# Needs node, and the packages that `tools/setup --ci` puts into tests/web.
set -euo pipefail
pliant=${PLIANT:?} source=${SOURCE_DIR:?} web=${SOURCE_DIR:?}/tests/web
thorough=${PLIANT_THOROUGH:-}

if ! command -v node >/dev/null || [[ ! -d $web/node_modules/three || ! -d $web/node_modules/gltf-validator ]]; then
    echo "skipped: node or tests/web/node_modules is not there; tools/setup --ci installs them"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# check NAME SCENE FRAMES [check.js option…]: one run writes the .glb and the last frame; shorter ones, which go the same
# way, the frames before.
check() {
    local name=$1 scene=$2 last=$3 frames=()
    shift 3
    "$pliant" run "$scene" -q -n "$last" -o "$name.glb" -o "$name-$last.obj"
    for frame in 0 $((last / 2)); do
        "$pliant" run "$scene" -q -n "$frame" -o "$name-$frame.obj"
    done
    for frame in 0 $((last / 2)) "$last"; do
        frames+=("$frame=$name-$frame.obj")
    done
    node "$web/check.js" "$name.glb" "${frames[@]}"
    if [[ -n $thorough && -x ${CHROMIUM:-/usr/bin/chromium} ]]; then
        node "$web/check.js" --browser "$name.glb" "${frames[@]}"
    fi
    rm -f "$name.glb" "$name"-*.obj
}

# The textured one of our collection, where there is one.
duck=$source/../shared/meshes/glb/Duck.glb
cat >duck.json <<EOS
{"pliant": 1, "models": {"duck": {"file": "$duck", "particles": 60, "scale": 1}},
 "bodies": [{"name": "duck", "model": "duck", "material": "jelly", "position": [0, 3, 0],
             "rotation": {"axis": [1, 0, 0], "degrees": 40}}],
 "colliders": [{"name": "floor", "shape": "plane"}]}
EOS

scenes=$source/scenes
if [[ -n $thorough ]]; then
    check crowd-52 "$scenes/crowd-52.json" 120
    check dinosaur-hung "$scenes/dinosaur-hung.json" 60
    check drape "$scenes/drape.json" 60
    check rope "$scenes/rope.json" 60
    check slope "$scenes/slope.json" 60
    check sheet-on-turning-rod "$scenes/sheet-on-turning-rod.json" 120
    [[ ! -f $duck ]] || check duck duck.json 60
else
    check rope "$scenes/rope.json" 30
    check slope "$scenes/slope.json" 10
    check sheet-on-turning-rod "$scenes/sheet-on-turning-rod.json" 10
    [[ ! -f $duck ]] || check duck duck.json 20
fi
echo "done"
