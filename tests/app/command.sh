#!/bin/bash
# The command from outside: help, mistakes in calling it, outputs that appear whole or not at all, signals, pipes, and
# hashes that depend on nothing but the scene. Label: slow.
. "${SOURCE_DIR:?}/tests/support/outside.sh"

# ---- Help and mistakes ----

expect 0 "Usage: pliant COMMAND" "$pliant" --help
expect 0 "Usage: pliant COMMAND" "$pliant" help
expect 2 "Usage: pliant COMMAND" "$pliant"
touch mesh.obj mesh.pliant
expect 2 "mesh.obj: this is a mesh, not a scene" "$pliant" run mesh.obj
expect 2 "mesh.pliant: this is a model, not a scene" "$pliant" check ./mesh.pliant
rm mesh.obj mesh.pliant
expect 2 "mesh.obj: cannot be opened" "$pliant" run ./mesh.obj
expect 0 "^pliant [0-9]" "$pliant" version
expect 0 "^pliant [0-9]" "$pliant" --version
expect 0 "Usage: pliant version" "$pliant" version --help
expect 0 "Usage: pliant version" "$pliant" help version
expect 0 "Usage: pliant COMMAND" "$pliant" help help
for command in run check demo scenes cook picture inspect bench; do
    expect 0 "Usage: pliant $command" "$pliant" $command --help
    expect 0 "Usage: pliant $command" "$pliant" help $command
    expect 2 "there is no option --nonsense" "$pliant" $command --nonsense
done
# The manual page has every option of every command.
for command in run check demo scenes cook picture inspect bench; do
    grep -q "^\.Cm $command" "$SOURCE_DIR/man/pliant.1" || fail "the manual page has no $command"
    for option in $("$pliant" $command --help | grep -o '^ *\(-., \)\?--[a-z-]*' | grep -o -- '--[a-z-]*'); do
        [ "$option" = --help ] || grep -Eq -- "(Fl|, ) ?${option#-}( |$)" "$SOURCE_DIR/man/pliant.1" || fail "the manual page has no $option ($command)"
    done
done
expect 2 'did you mean "run"' "$pliant" rnu
expect 2 "did you mean --frames" "$pliant" run rope --frmes 3
expect 2 "needs a value: --frames N" "$pliant" run rope --frames
expect 2 "needs a whole number" "$pliant" run rope --frames many
expect 2 "must be from 1 to" "$pliant" run rope --iterations 0
expect 2 "greater than 0" "$pliant" run rope --step -1
expect 2 "needs a number" "$pliant" run rope --step nan
expect 2 "takes no value" "$pliant" run rope --hash=1
expect 2 "there is no option -x" "$pliant" run rope -x
expect 2 "one word too many" "$pliant" run rope rope
expect 2 "one word too many" "$pliant" version now
expect 2 "one word too many" "$pliant" help run rope
expect 2 "there is no option --frames; options follow the command" "$pliant" --frames 3 run rope
for command in run check demo inspect cook "picture -o a.png"; do
    # shellcheck disable=SC2086
    expect 2 'an empty word ("") is no name' "$pliant" $command ""
done
expect 2 "out needs a value, and has an empty one: --out OUT" "$pliant" run rope -o ""
expect 2 "out needs a value, and has an empty one: --out DIR" "$pliant" demo rope -o ""
expect 2 "frames needs a value, and has an empty one" "$pliant" run rope --frames=
expect 2 "which scene" "$pliant" run
expect 2 'did you mean "stiff"' "$pliant" run rope --solver stif
expect 2 'did you mean "rope"' "$pliant" run roppe
expect 2 "cannot be opened: No such file" "$pliant" run ./missing.json
expect 2 "is a directory" "$pliant" run /
expect 2 "known are .*[.]obj.* [.]jsonl" "$pliant" run rope -o film.mkv
expect 2 "named twice" "$pliant" run rope -o a.jsonl -o a.jsonl
expect 2 "only %d or %04d" "$pliant" run rope -o 'a_%s.obj'
expect 2 "one place only" "$pliant" run rope -o 'a_%d_%d.obj'
expect 2 "a .csv file has all frames; leave the frame number out" "$pliant" run rope -o 'a_%04d.csv'
expect 2 "writes a .jsonl file" "$pliant" run rope --dump a.txt
expect 2 "choose the one to write with --run" "$pliant" run bar-sweep -o 'a_%d.obj'
expect 2 'has no run "x"; it has "10 iterations"' "$pliant" run bar-sweep --run x
expect 2 "has no \"runs\"" "$pliant" run rope --run x
expect 0 "--size is for pictures" "$pliant" run rope --frames 1 --size 32x18
expect 2 "step: is 1e-30 s; it must be from 1e-9" "$pliant" run rope --step 1e-30
if "$pliant" picture builtin:torus --size 8x8 -o torus.png 2>/dev/null; then
    rm torus.png
    # Looks are read, whether or not there is anything to look at.
    expect 2 "size needs width and height" "$pliant" run rope --frames 1 --size 0x-3
    expect 2 'view must be .*, not "frnt"; did you mean "front"' "$pliant" run rope --frames 1 --view frnt
    expect 2 "show can have" "$pliant" run rope --frames 1 --show everything
fi
expect 2 "there is no table" "$pliant" bench everything
expect 2 "PLIANT_SIMD must be 4, 8 or 16" env PLIANT_SIMD=5 "$pliant" version
expect 0 "^pliant [0-9]" env PLIANT_SIMD= "$pliant" version
expect 2 "snapshot-at 3: the run must go on behind it, and has 3 frames" "$pliant" run rope --frames 3 --snapshot-at 3 -o a.jsonl
expect 0 "0 frames of .* 1 body, 100 particles, 99 edges" "$pliant" run rope --frames 0
expect 0 '"bodies":1,"particles":100,' "$pliant" run rope --frames 0 --json
leaves

# ---- Outputs ----

expect 0 "stage" "$pliant" run rope --frames 3 -o a.jsonl -o 'f_%03d.obj' -o last.obj --dump b.jsonl
[ "$(wc -l <a.jsonl)" -eq 4 ] || fail "a line per frame and one for the start"
cmp -s a.jsonl b.jsonl || fail "-o and --dump write the same"
cmp -s f_003.obj last.obj || fail "a single .obj is the last frame"
grep -q '^f ' last.obj || fail "no faces"
leaves a.jsonl b.jsonl f_000.obj f_001.obj f_002.obj f_003.obj last.obj
expect 0 "wrote 100%.obj (the last frame" "$pliant" run rope --frames 1 -o '100%%.obj'
leaves 100%.obj

drawing="env ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0"
# shellcheck disable=SC2086
expect 0 "wrote out/dinosaur-collapse.glb (3 frames" $drawing "$pliant" demo --frames 2
[ "$(head -c 4 out/dinosaur-collapse.glb)" = glTF ] || fail "the demo's .glb"
leaves out
expect 0 "wrote out/bar-sweep.jsonl" "$pliant" demo bar-sweep --frames 2
leaves out
expect 0 "^crowd-52 .*40 creatures" "$pliant" demo --list
mkdir empty
# shellcheck disable=SC2086
expect 0 "no film then" $drawing PATH="$PWD/empty" "$pliant" demo rope --frames 1
rmdir empty
[ -s out/rope.glb ] || fail "the demo without ffmpeg"
[ ! -e out/rope.mp4 ] || fail "a film without ffmpeg"
leaves out

expect 0 "" "$pliant" run rope --frames 2 --quiet
expect 0 '"ms_per_frame"' "$pliant" run rope --frames 2 --json --hash
expect 0 '"stiffness_ratio"' "$pliant" inspect rope --json
expect 0 "kh^2/rho" "$pliant" inspect rope
expect 0 "creature-collapse" "$pliant" scenes
"$pliant" bench iterations --quick --json >bench.json 2>/dev/null && grep -q '"ours_ms"' bench.json || fail "bench"
if command -v python3 >/dev/null; then
    for words in "run bar-sweep --frames 2 --json --hash" "inspect rope --json" "scenes --json"; do
        # shellcheck disable=SC2086
        "$pliant" $words 2>/dev/null | python3 -m json.tool >/dev/null || fail "not JSON: $words"
    done
    python3 -m json.tool bench.json >/dev/null || fail "not JSON: bench"
    "$pliant" run bar-stiffness --frames 2 -q -o a.jsonl
    python3 -c 'import json,sys; [json.loads(line) for line in open("a.jsonl")]' || fail "not JSON lines"
    rm -f a.jsonl
fi
rm -f bench.json
# The crowds take long to cook; test_crowd_scenes builds them.
"$pliant" scenes | while read -r name _; do
    [[ $name = crowd-* ]] || "$pliant" inspect "$name" >/dev/null || echo "$name"
done >broken
[ ! -s broken ] || fail "built-in scenes that do not build: $(cat broken)"
rm -f broken

# ---- What cannot be written, and what was there before ----

mkdir nowhere
expect 1 "cannot be written" "$pliant" run rope --frames 2 -o missing/a.jsonl
expect 1 "cannot be written" "$pliant" run rope --frames 2 -o 'missing/a_%d.obj'
touch file
expect 1 "file: the directory cannot be made" "$pliant" demo rope --frames 1 -o file
rm file
mkdir folder.jsonl
expect 1 "is a directory" "$pliant" run rope --frames 2 -o folder.jsonl
rmdir folder.jsonl
if [ "$(id -u)" -ne 0 ]; then
    chmod a-w nowhere
    expect 1 "cannot be written: Permission denied" "$pliant" run rope --frames 2 -o nowhere/a.jsonl
    chmod u+w nowhere
fi
rm -rf nowhere
leaves

echo old >a.jsonl
(ulimit -f 8; failures=0; expect 1 "cannot be written: File too large" "$pliant" run rope --frames 100 -q -o a.jsonl; exit $failures) || failures=$((failures + 1))
[ "$(cat a.jsonl)" = old ] || fail "a full disk must leave what was there"
leaves a.jsonl

touch .a.jsonl.999999999.pliant-part
echo old >target.jsonl
ln -s target.jsonl a.jsonl
expect 0 "" "$pliant" run rope --frames 1 -q -o a.jsonl
[ -L a.jsonl ] || fail "a link must stay a link"
[ "$(wc -l <target.jsonl)" -eq 2 ] || fail "the file behind a link is replaced"
rm -f .a.jsonl.999999999.pliant-part
leaves a.jsonl target.jsonl

touch .a.jsonl.999999999.pliant-part
expect 0 "" "$pliant" run rope --frames 1 -q -o a.jsonl
leaves a.jsonl

"$pliant" run rope --frames 2 -q -o /dev/null || fail "/dev/null takes everything"
[ -c /dev/null ] || fail "/dev/null must stay a device"
"$pliant" run rope --frames 2 -q -o /dev/stdout | grep -q '"frame":2' || fail "/dev/stdout"
printf '{"pliant": 1, "bodies": [{"model": {"shape": "bar"}}]}' | "$pliant" run - --frames 1 -q || fail "standard input"

# ---- Pipes and signals ----

{
    "$pliant" run bar-stiffness --frames 20000 --hash --quiet -o a.jsonl 2>error
    echo $? >status
} | head -n 1 >/dev/null
[ "$(cat status)" -eq 1 ] || fail "a closed pipe: exit status $(cat status)"
grep -q "standard output" error || fail "a closed pipe: no message"
leaves error status

# Interrupted once it is certainly at work, however long that takes. (A shell without job control has its background
# commands ignore Ctrl-C.)
env --default-signal=INT "$pliant" run bar-stiffness --frames 1000000 --quiet -o a.jsonl 2>error &
running=$!
for _ in $(seq 600); do
    [ "$(cat .a.jsonl.*.pliant-part 2>/dev/null | wc -l)" -gt 2 ] && break
    sleep 0.1
done
kill -INT $running; kill -INT $running # as timeout(1) does
wait $running
[ $? -eq 130 ] || fail "Ctrl-C: exit status"
grep -q interrupted error || fail "Ctrl-C: no message"
[ "$(tail -c 1 a.jsonl)" = "" ] && [ "$(wc -l <a.jsonl)" -gt 1 ] || fail "Ctrl-C: a whole, shorter file"
leaves a.jsonl error

# While a scene is being built there is nothing to finish: it ends at once, and leaves nothing.
mkdir models
printf '{"pliant": 1, "bodies": [{"model": {"builtin": "dinosaur", "detail": 8, "particles": 20000}}]}' >models/slow.json
for command in "run models/slow.json -o a.glb" "check models/slow.json" "inspect models/slow.json"; do
    # shellcheck disable=SC2086
    env --default-signal=INT "$pliant" $command >/dev/null 2>error &
    running=$!
    sleep 0.3
    kill -INT $running
    begun=$SECONDS
    wait $running
    [ $? -eq 130 ] || fail "Ctrl-C while a scene is built: exit status ($command)"
    grep -q "interrupted; nothing was written" error || fail "Ctrl-C while a scene is built: $(cat error) ($command)"
    [ $((SECONDS - begun)) -le 1 ] || fail "Ctrl-C while a scene is built takes $((SECONDS - begun)) s ($command)"
done
leaves error models

# ---- The same hash whatever the circumstances ----

frames=20
[ "${PLIANT_THOROUGH:-0}" = 0 ] || frames=60
for scene in bar-stiffness creature-collapse sheet-on-turning-rod bar-manipulation rope twisted-rod; do
    "$pliant" run $scene --frames $frames --hash --quiet >expected
    for options in "--threads 2" "--threads 7" "--snapshot-at 0" "--snapshot-at $((frames / 2))"; do
        # shellcheck disable=SC2086
        "$pliant" run $scene --frames $frames --hash --quiet $options | cmp -s - expected || fail "hash: $scene $options"
    done
    for width in 4 8 16; do
        PLIANT_SIMD=$width "$pliant" run $scene --frames $frames --hash --quiet | cmp -s - expected ||
            fail "hash: $scene PLIANT_SIMD=$width"
    done
done
rm -f expected

summary
