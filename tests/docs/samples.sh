#!/usr/bin/env bash
# Label: slow
# Every C sample in the README, in docs/ and in examples/ compiles, links and runs; every ```sh sample that calls pliant
# runs too, lines that make pictures and films only where these can be made, and in time. The samples find a mesh named dragon.obj, and C programs run
# in the directory where it is cooked.
set -euo pipefail

: "${BUILD_DIR:?is set by ctest}" "${SOURCE_DIR:?}" "${PLIANT:?}"
cc=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# extract LANGUAGE FILE: its samples as $work/NAME-N.LANGUAGE
extract() {
    awk -v language="$1" -v stem="$work/$(basename "$2")" '
        $0 == "```" language { open = 1; file = stem "-" ++count "." language; next }
        $0 == "```" { open = 0 }
        open { print > file }' "$2"
}

flags=()
case ${SANITIZE:-} in ?*) flags+=("-fsanitize=$SANITIZE") ;; esac
shopt -s nullglob
for page in "$SOURCE_DIR"/README.md "$SOURCE_DIR"/docs/*.md; do
    extract c "$page"
    extract sh "$page"
done
mkdir "$work/run"
cd "$work/run"
PATH=$(dirname "$PLIANT"):$PATH
pliant run creature-collapse -q --frames 60 -o dragon.obj
pictures='\.\(png\|mp4\|gif\)' skip='^$'
if [ -n "${SANITIZE:-}" ]; then
    skip=$pictures # tests/app/pictures.sh has them
else
    pliant run rope -q --frames 1 --size 32x32 -o one.png 2>said || { grep -q "pictures need" said && skip=$pictures; }
    command -v ffmpeg >/dev/null || skip="$skip\|\.mp4\|\.gif"
fi
for sample in "$work"/*.sh; do
    grep -q '^pliant ' "$sample" || continue
    echo "-- $(basename "$sample")"
    # Pictures and films come out smaller than the sample says: software draws them.
    grep '^pliant ' "$sample" | grep -v "$skip" | sed 's/-o [a-z_%0-9]*\.\(png\|gif\|mp4\)/& --size 160x90/' \
        >"$sample.pliant" || continue
    bash -eu "$sample.pliant" >"$sample.log" || { cat "$sample.log"; exit 1; }
done
for sample in "$work"/*.c; do
    echo "-- $(basename "$sample")"
    "$cc" -std=c17 -Wall -Wextra -Werror "${flags[@]}" -I"$SOURCE_DIR/include" "$sample" -o "${sample%.c}" \
        "$BUILD_DIR/libpliant_io.a" "$BUILD_DIR/libpliant.a" -lm -lpthread
    "${sample%.c}"
done
for sample in "$SOURCE_DIR"/examples/*.c; do
    echo "-- $(basename "$sample")"
    "$cc" -std=c17 -Wall -Wextra -Werror "${flags[@]}" -I"$SOURCE_DIR/include" "$sample" -o "$work/example" \
        "$BUILD_DIR/libpliant.a" -lm -lpthread
    "$work/example"
done
echo "all samples work"
