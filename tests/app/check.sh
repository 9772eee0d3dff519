#!/usr/bin/env bash
# pliant check, --set and included files, from outside: what is printed, exit statuses, where files are found.
set -euo pipefail

: "${SOURCE_DIR:?is set by ctest}" "${PLIANT:?}"
pliant=$PLIANT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*"; exit 1; }
# status EXPECTED COMMAND…: its output goes to stdout and stderr
status() {
    local expected=$1 got=0
    shift
    "$@" >stdout 2>stderr || got=$?
    [ "$got" = "$expected" ] || { cat stdout stderr; fail "status $got instead of $expected: $*"; }
}
says() { grep -qF -- "$2" "$1" || { cat "$1"; fail "$1 does not say: $2"; }; }

mkdir parts
cat >parts/models.json <<'END'
{"pliant": 1, "world": {"step": 0.01, "frames": 7},
 "models": {"bar": {"shape": "bar", "count": 6}, "mesh": {"file": "own.obj", "particles": 10}},
 "materials": {"goo": {"young": "2 kPa", "density": "1.1 g/cm3"}}}
END
cat >scene.json <<'END'
{"pliant": 1, "include": "parts/models.json", "world": {"frames": 5},
 "bodies": [{"name": "bar", "model": "bar", "material": "goo", "fixed": ["first"]},
            {"name": "other", "model": "mesh", "position": [0, 1, 0]}],
 "events": [{"at": 0.02, "release": ["bar"]}]}
END
# Found beside the file that names it, not beside the scene.
cat >parts/own.obj <<'END'
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
f 1 3 2
f 1 2 4
f 2 3 4
f 1 4 3
END

status 0 "$pliant" check scene.json
grep -q '^scene.json: ok: 2 bodies, [0-9]* particles, 2 models, 1 event, 5 frames$' stdout || fail "$(cat stdout)"
status 0 "$pliant" check --quiet scene.json rope
[ ! -s stdout ] && [ ! -s stderr ] || fail "quiet"
status 0 "$pliant" check "$work/./parts/../scene.json"
status 0 "$pliant" check --json --fast scene.json rope
says stdout '[{"name":"scene.json","ok":true,"bodies":2,"particles":0,'
says stdout '{"name":"rope","ok":true,'

# All are looked at, whatever is wrong with one.
mv parts/own.obj .
status 2 "$pliant" check nothing scene.json rope
says stderr "pliant: nothing: there is no such file and no built-in scene of this name"
says stderr "pliant: parts/models.json:2:67: models.mesh.file: parts/own.obj cannot be opened"
says stdout "rope: ok: 1 body"
status 2 "$pliant" run scene.json # a file that is missing is bad input, whoever names it
says stderr "parts/own.obj cannot be opened"
status 2 "$pliant" inspect scene.json
status 0 "$pliant" check --fast scene.json # the mesh is not looked at

# Outputs that could not be written are found without running.
for outputs in '[{"file": "a.csv"}, {"file": "a.foo"}]' '[{"file": "a.csv"}, {"file": "a.csv"}]' '[{"file": "b.csv"}, {"file": "a_%d.csv"}]'; do
    printf '{"pliant": 1, "bodies": [{"model": {"shape": "bar"}}],\n "outputs": %s}' "$outputs" >outputs.json
    for command in "check --fast" run; do
        # shellcheck disable=SC2086
        status 2 "$pliant" $command outputs.json
        says stderr "pliant: outputs.json:2:42: outputs[1].file: "
    done
done
printf '{"bodies": [{"model": {"shape": "bar"}}]}' >old.json
status 2 "$pliant" check old.json
says stderr 'old.json:1:1: the key "pliant" is missing; write "pliant": 1 (the version of the format)'
printf '{"pliant": 1}' >old.json
status 2 "$pliant" check old.json
says stderr 'old.json:1:1: the key "bodies" is missing; write "bodies": [{"model":'
status 2 "$pliant" check --json scene.json
says stdout '"ok":false,"file":"parts/models.json","line":2,"column":67,"path":"models.mesh.file","message":"'
mv own.obj parts
status 2 "$pliant" check
says stderr "which scene?"

# A scene from standard input has no directory: files are meant from the current one.
"$pliant" check - <scene.json >stdout || fail "standard input"
says stdout "-: ok: 2 bodies"

# Values from outside.
status 0 "$pliant" inspect scene.json --set bodies.bar.stiffness=2e4 --set world.gravity=[0,-1.6,0] --set 'bodies[1].young=3 MPa'
says stdout "stiffness k 20000 kg"
says stdout "gravity (0, -1.6, 0)"
says stdout "Young's modulus 3e+06 Pa"
says stdout "world: 5 frames of 0.01 s"
says stdout "event at 0.02 s: lets go"
"$pliant" run scene.json -q --hash >plain
"$pliant" run scene.json -q --hash --set bodies.bar.density=1100 --set materials.goo.young=2000 >same
cmp plain same || fail "the values the scene has change nothing"
"$pliant" run scene.json -q --hash --set materials.goo.young=2001 >other
! cmp -s plain other || fail "another value changes something"
"$pliant" run scene.json -q --hash --set world.frames=2 | wc -l | grep -qx 3 || fail "frames"
status 2 "$pliant" check scene.json rope --set bodies.bar.young=1e5
says stderr 'pliant: --set bodies.bar.young: nothing in bodies has the name "bar"'
says stdout "scene.json: ok"
status 2 "$pliant" inspect parts/own.obj --set world.step=1
says stderr "--set is for scenes"

# An event changes nothing before its frame, and something after it.
"$pliant" run scene.json -q --hash --set 'events=[]' >without
[ "$(head -n 3 plain)" = "$(head -n 3 without)" ] || fail "events come too early"
[ "$(sed -n 4p plain)" != "$(sed -n 4p without)" ] || fail "events do not come"
"$pliant" run scene.json -q --hash --snapshot-at 3 >through
cmp plain through || fail "a snapshot after an event"

# Outputs that the scene asks for, beside it; -o takes their place, options count more.
mkdir away
cat >away/wishes.json <<'END'
{"pliant": 1, "world": {"frames": 6}, "bodies": [{"model": {"shape": "bar", "count": 4}}],
 "outputs": ["state.jsonl", {"file": "sub_%02d.obj", "every": 3}]}
END
status 0 "$pliant" run away/wishes.json -q
[ "$(ls away | tr '\n' ' ')" = "state.jsonl sub_00.obj sub_03.obj sub_06.obj wishes.json " ] || fail "outputs: $(ls away)"
rm away/s*
status 0 "$pliant" run away/wishes.json -q -o own.jsonl
[ "$(ls away)" = "wishes.json" ] && [ -s own.jsonl ] || fail "-o"
status 0 "$pliant" run away/wishes.json -q --every 6
[ "$(wc -l <away/state.jsonl)" = 2 ] && [ ! -e away/sub_03.obj ] || fail "--every"
status 2 "$pliant" run away/wishes.json -q --set 'outputs=["what.xyz"]'

# Large scenes are read or refused in no time; so is nonsense.
awk 'BEGIN { print "{\"pliant\": 1,\n\"bodies\": ["; for (i = 0; i < 333000; i++) printf "{\n\"name\": \"b%d\", \"model\": \"m\"\n},\n", i;
    print "{\"model\": \"n\"}]}" }' >large.json
status 2 timeout 20 "$pliant" check --fast large.json
says stderr 'large.json:4:24: bodies[0].model: there is no model "m"'
head -c 1000000 /dev/zero | tr '\0' '[' >deep.json
status 2 "$pliant" check deep.json
says stderr "brackets are nested deeper than 256 levels"
printf '\357\273\277{"pliant": 1, "bodies": [{"name": "B\303\244r \346\237\220", "model": {"shape": "bar"}}]}' >names.json
status 0 "$pliant" check names.json
printf '{"pliant": 1,\0 "bodies": []}' >zero.json
status 2 "$pliant" check zero.json
says stderr "zero.json:1:14:"
echo '{"pliant": 1, "bodies": [{"model": {"shape": "box", "count": [10000, 10000, 10000]}}]}' >huge.json
status 2 "$pliant" check huge.json
says stderr "huge.json:1:"
echo "check, --set and include work"
