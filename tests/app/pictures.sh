#!/bin/bash
# Pictures and films from outside: files that are what their names say, whole or absent; options and their mistakes; no
# OpenGL, no ffmpeg, no place to write, Ctrl-C. Skipped where there is no OpenGL. Label: slow.
. "${SOURCE_DIR:?}/tests/support/outside.sh"

# is_png FILE WIDTH HEIGHT: by its first bytes and its last.
is_png() {
    local head tail
    head=$(head -c 24 "$1" | od -An -tx1 | tr -d ' \n')
    tail=$(tail -c 8 "$1" | od -An -tx1 | tr -d ' \n')
    [ "$head" = "89504e470d0a1a0a0000000d49484452$(printf '%08x%08x' "$2" "$3")" ] || fail "$1 is not a PNG of $2 x $3"
    [ "$tail" = 49454e44ae426082 ] || fail "$1 has no end"
}

run="$pliant run rope --quiet --frames 3 --size 160x90"

$run -o first.png 2>said
case $?:$(cat said) in
0:*) ;;
*"pictures need"*)
    # The message is all that can be tested here; nothing may be left behind.
    echo "skipped: $(cat said)"
    rm -f said
    [ -z "$(ls -A)" ] || exit 1
    exit 77
    ;;
*) fail "a first picture: $(cat said)" ;;
esac
rm -f said

# ---- Pictures ----

is_png first.png 160 90
[ "$(wc -c <first.png)" -gt 2000 ] || fail "an empty picture"
$run -o again.png || fail "again"
cmp -s first.png again.png || fail "the same scene gives the same picture"
$run -o top.png --view top || fail "--view"
$run -o particles.png --show particles || fail "--show particles"
$run -o graph.png --show surface,graph || fail "--show surface,graph"
$run -o camera.png --camera 3,2,3,0,0,0 || fail "--camera"
for other in top particles graph camera; do
    is_png $other.png 160 90
    ! cmp -s first.png $other.png || fail "$other.png is no other picture"
done
"$pliant" run rope --quiet --frames 1 -o default.png || fail "the default size"
is_png default.png 1280 720
"$pliant" run rope --quiet --frames 1 --size 1x1 -o small.png || fail "1x1"
is_png small.png 1 1
$run -o 'f_%02d.png' -o last.png || fail "a sequence"
for i in 0 1 2 3; do
    is_png f_0$i.png 160 90
done
! cmp -s f_00.png f_03.png || fail "nothing moves"
leaves again.png camera.png default.png f_00.png f_01.png f_02.png f_03.png first.png graph.png last.png particles.png \
    small.png top.png

# A picture through a pipe is a picture.
$run -o /dev/null || fail "/dev/null"
echo old >a.png
(ulimit -f 4; failures=0; expect 1 "cannot be written: File too large" "$pliant" run rope --quiet --frames 1 -o a.png; exit $failures) || failures=$((failures + 1))
[ "$(cat a.png)" = old ] || fail "a full disk must leave what was there"
leaves a.png

# ---- Colliders ----

# Nothing moves but what the collider says, and all of it stands between the bodies: the camera is the same for all.
scene() {
    printf '{"pliant": 1, "world": {"gravity": [0, 0, 0]}, "models": {"block": {"shape": "box", "count": 2, "size": 0.3}},
        "bodies": [{"model": "block", "position": [-1, 0, -1], "mask": 0},
            {"model": "block", "position": [1, 1, 1], "mask": 0}],
        "colliders": [%s]}' "$2" >"$1.json"
    "$pliant" run "$1.json" --quiet --frames 3 --size 160x90 -o "$1_%d.png" || fail "the scene $1"
}
scene none ''
scene floor '{"shape": "plane", "position": [0, 0.5, 0]}'
scene wall '{"shape": "plane", "rotation": {"axis": [1, 0, 0], "degrees": 90}}'
scene slope '{"shape": "plane", "position": [0, 0.3, 0], "rotation": {"axis": [1, 0, 1], "degrees": 30}}'
scene box '{"shape": "box", "half": [0.2, 0.2, 0.4], "position": [0, 0.5, 0]}'
scene sphere '{"shape": "sphere", "radius": 0.3, "position": [0, 0.5, 0]}'
scene capsule '{"shape": "capsule", "radius": 0.1, "length": 0.5, "position": [0, 0.5, 0]}'
scene mesh '{"shape": "mesh", "builtin": "torus", "scale": 0.5, "position": [0, 0.5, 0]}'
scene leaf '{"shape": "mesh", "vertices": [[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0]], "triangles": [[0, 1, 2]], "position": [0, 0.3, 0]}'
scene back '{"shape": "mesh", "vertices": [[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0]], "triangles": [[0, 2, 1]], "position": [0, 0.3, 0]}'
for shape in floor wall slope box sphere capsule mesh leaf back; do
    ! cmp -s none_3.png ${shape}_3.png || fail "a collider is not drawn: $shape"
    cmp -s ${shape}_0.png ${shape}_3.png || fail "a collider that stays moves in the picture: $shape"
done
cmp -s leaf_3.png back_3.png || fail "a surface with two sides looks alike from both"
scene moved '{"shape": "box", "half": [0.2, 0.2, 0.4], "position": [0, 0.5, 0], "turn": {"axis": [0, 1, 0], "speed": 300}}'
cmp -s box_0.png moved_0.png || fail "a collider at its start"
! cmp -s moved_0.png moved_3.png || fail "a collider that turns stays in the picture"
# A wall that is seen from behind, sizes of zero and beyond all measure: nothing to see, and no harm.
scene behind '{"shape": "plane", "rotation": {"axis": [1, 0, 0], "degrees": -90}}'
cmp -s none_3.png behind_3.png || fail "a wall hides what is before it"
scene empty '{"shape": "sphere", "radius": 0}, {"shape": "box", "half": [0, 0, 0]}, {"shape": "capsule", "radius": 0, "length": 0}'
scene large '{"shape": "sphere", "radius": 1e8, "position": [0, -2e8, 0]}, {"shape": "box", "half": [1e9, 1, 1e9], "position": [0, -9, 0]}'
rm -rf ./*

# ---- Mistakes ----

expect 2 "width and height" $run --size big -o a.png
expect 2 "width and height" $run --size 10x -o a.png
expect 2 "from 1x1 to" $run --size 0x10 -o a.png
expect 2 "from 1x1 to" $run --size 99999x10 -o a.png
expect 2 "from 1x1 to" $run --size 100000x100000 -o a.png
expect 2 "from 1x1 to" $run --size 10x99999999999999999999 -o a.png
expect 2 'builtin:unicorn: nothing called "unicorn"' "$pliant" picture builtin:unicorn -o a.png
expect 2 "corner, front, back" $run --view behind -o a.png
expect 2 'did you mean "front"' $run --view frnt -o a.png
expect 2 "six numbers" $run --camera 1,2,3 -o a.png
expect 2 "six numbers" $run --camera 1,2,3,4,5,nan -o a.png
expect 2 "where it is" $run --camera 1,2,3,1,2,3 -o a.png
expect 2 "contradict" $run --camera 1,2,3,4,5,6 --view top -o a.png
expect 2 "surface, particles, graph, tets, clusters, contacts and stress" $run --show bones -o a.png
expect 2 "surface, particles, graph, tets, clusters, contacts and stress" $run --show surface, -o a.png
expect 2 'did you mean "contacts"' $run --show surface,contcts -o a.png
expect 2 "pascals above 0" $run --show stress --stress-scale -5 -o a.png
expect 2 "pascals above 0" $run --show stress --stress-scale 5x -o a.png
expect 2 "goes with --show stress" $run --stress-scale 5 -o a.png
expect 2 "the scene has none" $run --camera left -o a.png
expect 2 'did you mean "crane"' "$pliant" run crowd-52 -q --frames 0 --camera crne -o a.png
expect 2 "only %d or %04d" $run -o 'a_%s.png'
expect 2 "choose the one to write with --run" "$pliant" run bar-sweep -o a.png
expect 1 "cannot be written: No such file" $run -o nowhere/a.png
expect 1 "cannot be written: No such file" $run -o 'nowhere/a_%d.png'
expect 1 "cannot be written: No such file" $run -o nowhere/a.mp4
mkdir folder.png
expect 1 "is a directory" $run -o folder.png
rmdir folder.png
leaves

# ---- No OpenGL ----

expect 1 "pictures need OpenGL" env __EGL_VENDOR_LIBRARY_FILENAMES=/nonexistent $run -o a.png -o a.jsonl
leaves

# ---- Films ----

expect 1 "ffmpeg, which was not found" env PATH=/nonexistent $run -o a.mp4
expect 1 "ffmpeg, which was not found" env PATH=/nonexistent $run -o a.gif -o a.jsonl
leaves
if command -v ffmpeg >/dev/null; then
    $run -o a.mp4 -o a.gif -o a.png || fail "films"
    [ "$(head -c 8 a.mp4 | tail -c 4)" = ftyp ] || fail "a.mp4 is no film"
    [ "$(head -c 6 a.gif)" = GIF89a ] || fail "a.gif is none"
    if command -v ffprobe >/dev/null; then
        for film in a.mp4 a.gif; do
            said=$(ffprobe -v error -count_frames -select_streams v -show_entries stream=width,height,nb_read_frames \
                -of csv=p=0 $film)
            [ "$said" = 160,90,4 ] || fail "$film: $said instead of 160,90,4"
        done
    fi
    leaves a.mp4 a.gif a.png

    expect 2 "must be even" "$pliant" run rope -q --frames 2 --size 161x90 -o a.mp4
    ln -s /dev/null null.mp4
    expect 1 "to a file only" $run -o null.mp4
    leaves null.mp4
    mkdir bin
    printf '#!/bin/sh\nread x\nexit 1\n' >bin/ffmpeg
    chmod +x bin/ffmpeg
    echo old >a.mp4
    expect 1 "ffmpeg" env PATH="$PWD/bin:$PATH" "$pliant" run rope -q --frames 20 --size 320x180 -o a.mp4
    [ "$(cat a.mp4)" = old ] || fail "a film that failed must leave what was there"
    leaves a.mp4 bin

    timeout --preserve-status -s INT -k 60 2 "$pliant" run rope --frames 5000 --size 64x36 --quiet -o a.mp4 -o 'f_%d.png' 2>error
    [ $? -eq 130 ] || fail "Ctrl-C: exit status"
    grep -q interrupted error || fail "Ctrl-C: no message"
    [ "$(head -c 8 a.mp4 | tail -c 4)" = ftyp ] || fail "Ctrl-C: a whole, shorter film"
    [ -z "$(find . -name '*part*')" ] || fail "Ctrl-C: temporaries are left"
    rm -rf ./*
else
    echo "no ffmpeg: films are not tested"
fi

# ---- Things at rest ----

if "$pliant" picture --help >/dev/null 2>&1; then
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' >t.obj
    expect 0 "" "$pliant" picture t.obj -o t.png --size 80x60
    is_png t.png 80 60
    expect 0 "" "$pliant" picture builtin:torus -o torus.png --size 80x60 --show surface,particles,graph
    expect 2 "rope is a scene; draw it with 'pliant run rope -n 0 -o a.png'" "$pliant" picture rope -o a.png
    is_png torus.png 80 60
    leaves t.obj t.png torus.png
    expect 2 "of what" "$pliant" picture -o a.png
    expect 2 "where to" "$pliant" picture builtin:torus
    expect 2 "writes a .png" "$pliant" picture builtin:torus -o a.jpg
    expect 2 "" "$pliant" picture builtin:unicorn -o a.png
    expect 2 "" "$pliant" picture missing.obj -o a.png
    expect 2 "the built-in one is builtin:torus" "$pliant" picture torus -o a.png
    expect 2 "sheet: --show tets: the mesh encloses no volume" "$pliant" picture builtin:sheet --show tets -o a.png
    grep -q "pliant cook builtin:sheet" "$work/said" || fail "no remedy: $(cat "$work/said")"
    expect 0 "--show contacts is for runs" "$pliant" picture builtin:torus --size 80x60 --show contacts -o a.png
    rm a.png
    printf 'nothing' >bad.obj
    expect 2 "" "$pliant" picture bad.obj -o a.png
    leaves bad.obj
fi

summary
