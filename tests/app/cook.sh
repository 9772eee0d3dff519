#!/bin/bash
# pliant cook and pliant inspect from outside: meshes become models, models come back, scenes use both, mistakes are
# explained, and an existing file is replaced whole or left alone.
. "${SOURCE_DIR:?}/tests/support/outside.sh"

cat >box.obj <<'OBJ'
v 0 0 0
v 2 0 0
v 2 1 0
v 0 1 0
v 0 0 1
v 2 0 1
v 2 1 1
v 0 1 1
f 4 3 2 1
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
OBJ

# ---- Cooking ----

expect 0 "cooked as a solid" "$pliant" cook box.obj
[ -f box.pliant ] || fail "no box.pliant in the current directory"
expect 0 "solid: [0-9]* particles" "$pliant" inspect box.pliant
expect 0 '"dimension":3' "$pliant" inspect box.pliant --json
expect 0 "12 triangles" "$pliant" inspect box.obj
expect 0 '"triangles":12' "$pliant" inspect box.obj --json
expect 0 "" "$pliant" cook box.obj -o again.pliant -q
cmp -s box.pliant again.pliant || fail "the same mesh cooks to other bytes"
expect 0 "" "$pliant" cook box.obj -o other.pliant -q --seed 5
cmp -s box.pliant other.pliant && fail "the seed changes nothing"
expect 0 '"kind":"shell"' "$pliant" cook box.obj -o shell.pliant --kind shell --json -n 30
expect 0 "cooked as a solid" "$pliant" cook box.obj -o grid.pliant --grid --spacing 0.25
expect 0 "cooked as a" "$pliant" cook builtin:cuboid --detail 0.5
[ -f cuboid.pliant ] || fail "no cuboid.pliant in the current directory"
expect 0 "builtin:rope: mesh" "$pliant" inspect builtin:rope

# ---- Scenes ----

mkdir scenes
cat >scenes/s.json <<'JSON'
{"pliant": 1, "world": {"frames": 5},
 "bodies": [{"model": {"file": "../box.pliant"}},
            {"model": {"file": "../box.obj", "particles": 30}, "position": [5, 0, 0]},
            {"model": {"builtin": "sheet", "detail": 0.3, "particles": 25}, "position": [9, 0, 0]}]}
JSON
expect 0 "3 bodies" "$pliant" inspect scenes/s.json
expect 0 "" "$pliant" run scenes/s.json -q -o out.jsonl

# ---- Mistakes ----

expect 2 "which mesh" "$pliant" cook
expect 2 "must end with .pliant" "$pliant" cook box.obj -o box.obj
expect 2 'did you mean "solid"' "$pliant" cook box.obj --kind soild
expect 2 "give one of them" "$pliant" cook box.obj --particles 3 --spacing 1
expect 2 "must be from 1 to" "$pliant" cook box.obj --particles 0
expect 2 "missing.obj" "$pliant" cook missing.obj
expect 2 'builtin:unicorn: nothing called "unicorn" is built in; there are dinosaur' "$pliant" cook builtin:unicorn
expect 2 "torus: --tets: the body is too thin" "$pliant" cook builtin:torus --tets 1
expect 2 "torus: --spacing: 1e-09 would need" "$pliant" cook builtin:torus --spacing 1e-9
expect 2 "torus: --spacing: 1e+09 is too much" "$pliant" cook builtin:torus --spacing 1e9
expect 2 "torus: --detail: from 0.1 to 16" "$pliant" cook builtin:torus --detail 0.01
head -c 300 /dev/zero | tr '\0' '\377' >junk.glb
expect 2 'junk.glb:byte 0: this is no .glb file' "$pliant" cook junk.glb
cp junk.glb junk.pliant
expect 2 "junk.pliant: " "$pliant" inspect junk.pliant
grep -q mesh "$work/said" && fail "a broken model is no broken mesh: $(cat "$work/said")"
expect 2 "s.json is a scene; only meshes can be cooked" "$pliant" cook scenes/s.json
expect 2 "box.pliant is a model already" "$pliant" cook box.pliant
expect 2 'must end with .pliant, not be "box.model"' "$pliant" cook box.obj -o box.model
expect 2 "torus: cannot be opened: .*; the built-in one is builtin:torus" "$pliant" cook torus
expect 2 "weld must be from 0 to 0.1, not -1" "$pliant" cook box.obj --weld -1
head -c 300 /dev/zero >junk.glb
expect 2 'junk.glb:byte 0: this is no .glb file' "$pliant" inspect junk.glb
printf 'v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n' >flat.obj
expect 2 "flat.obj: " "$pliant" cook flat.obj
[ -e flat.pliant ] && fail "a refused mesh left a file"
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >sheet.obj
expect 2 "cook it as a shell" "$pliant" cook sheet.obj --kind solid
head -c 1000 box.pliant >cut.pliant
expect 2 "cut short" "$pliant" inspect cut.pliant

# ---- An existing file is replaced whole or left alone ----

cp box.pliant keep.pliant
expect 2 "" "$pliant" cook flat.obj -o keep.pliant
cmp -s box.pliant keep.pliant || fail "a refused mesh changed an existing model"
expect 1 "" "$pliant" cook box.obj -o nowhere/at/all.pliant
ls -A | grep -q 'pliant-part' && fail "a temporary was left behind"

summary
