#!/usr/bin/env bash
# Every ```json example of the page on the scene format is a scene, or a part of one that becomes a scene with the things it
# speaks of; 'pliant check' must find nothing wrong with it.
set -euo pipefail

: "${SOURCE_DIR:?is set by ctest}" "${PLIANT:?}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -v stem="$work/example-" '
    $0 == "```json" { open = 1; file = sprintf("%s%02d.json", stem, ++count); next }
    $0 == "```" { open = 0 }
    open { print > file }' "$SOURCE_DIR/docs/scene-format.md"

# What the examples speak of without saying it.
mkdir "$work/parts"
cat >"$work/parts/toys.json" <<'END'
{"pliant": 1, "models": {
  "bar": {"shape": "bar", "count": 8}, "bear": {"shape": "box", "count": [3, 3, 3]},
  "car": {"shape": "bar", "count": 4}, "sheet": {"shape": "sheet", "count": [4, 1, 4], "size": [1, 0.01, 1]}}}
END
echo '{"pliant": 1, "colliders": [{"shape": "plane"}]}' >"$work/parts/room.json"
cat >"$work/things.json" <<'END'
{"pliant": 1, "include": "parts/toys.json",
 "pins": [{"name": "hook", "body": "bar", "particle": 0}],
 "bodies": [{"name": "bar", "model": "bar"}, {"name": "lamp", "model": "bar"}, {"name": "weight", "model": "bear"}]}
END

count=0
for example in "$work"/example-*.json; do
    if [ "$(head -c 1 "$example")" != "{" ]; then
        { printf '{"pliant": 1, "include": "things.json",\n'; cat "$example"; echo "}"; } >"$work/whole.json"
        mv "$work/whole.json" "$example"
    fi
    "$PLIANT" check -q "$example" || { cat "$example"; exit 1; }
    count=$((count + 1))
done
[ "$count" -ge 17 ] || { echo "only $count examples found"; exit 1; }
echo "$count examples are good"
