#!/bin/bash
# Same bits: the hash of every frame is the same at every vector width and for any number of threads, in the scenes that are
# quickly made; a few of them go on until everything has met. With PLIANT_THOROUGH=1 all scenes, to their ends. PLIANT_OTHER
# names the command of another build (another compiler, another level of optimisation), which must agree as well. Label: slow.
set -u
pliant=${PLIANT:?the built command}
scenes=${SOURCE_DIR:?the tree}/scenes
failures=0 count=0
quick="bar-manipulation bar-stiffness bent-wire cannonball:60 creature-collapse example-beta example-slope example-spring
    knotted-rod let-go:60 pile-1000:45 rope:60 rope-coil:150 sheet-on-turning-rod slope:45 tet-beam tet-jelly twisted-rod"

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# hashes SCENE THREADS WIDTH [COMMAND]: frame and hash, line by line. A width the machine lacks becomes one that it has.
hashes() {
    PLIANT_SIMD=$3 "${4:-$pliant}" run "$scenes/$1.json" ${frames:+--frames "$frames"} --threads "$2" --hash --quiet
}

if [ -n "${PLIANT_THOROUGH:-}" ] && [ "$PLIANT_THOROUGH" != 0 ]; then
    names=$(cd "$scenes" && ls -- *.json | sed 's/\.json$//')
    ways="1:8 1:16 2:16 7:8"
else
    names=$quick
    ways="1:8 2:16"
fi
for entry in $names; do
    count=$((count + 1))
    name=${entry%:*} frames=
    [ "$names" != "$quick" ] || frames=3
    [ "$entry" = "$name" ] || frames=${entry#*:}
    expected=$(hashes "$name" 1 4) || fail "$name does not run"
    [ "$(grep -c . <<<"$expected")" -gt 1 ] || fail "$name: no hashes"
    for way in $ways; do
        [ "$(hashes "$name" "${way%:*}" "${way#*:}")" = "$expected" ] ||
            fail "$name: other bits with ${way%:*} threads at width ${way#*:}"
    done
    [ -z "${PLIANT_OTHER:-}" ] || [ "$(hashes "$name" 2 16 "$PLIANT_OTHER")" = "$expected" ] ||
        fail "$name: other bits in $PLIANT_OTHER"
done
echo "$count scenes, threads:width 1:4 $ways: $failures differ"
[ "$failures" -eq 0 ]
