#!/bin/bash
# Runs killed at random moments (SIGKILL): what was there before, or a complete new file; and --resume ends with the same
# bytes and the same hash as a run that was left alone. 8 kills, 100 with PLIANT_THOROUGH=1. Label: slow.
. "${SOURCE_DIR:?}/tests/support/outside.sh"

kills=8
[ "${PLIANT_THOROUGH:-0}" = 0 ] || kills=100

# A rope that is let go at its ends, one after the other, and falls on a floor.
cat >scene.json <<'END'
{"pliant": 1, "world": {"step": 0.01, "solver": "stiff", "frames": 120},
 "models": {"rope": {"shape": "chain", "count": 60, "size": [3, 0.06, 0.06]}},
 "bodies": [{"name": "rope", "model": "rope", "position": [0, 1, 0], "material": {"like": "rope", "young": 3e5}}],
 "pins": [{"name": "left", "body": "rope", "particles": [0]},
          {"name": "right", "body": "rope", "particles": [59]}],
 "events": [{"at": 0.3, "drop": ["left"]}, {"at": 0.7, "drop": ["right"]}],
 "colliders": [{"shape": "plane"}]}
END
files="a.jsonl a.pc2 a.glb a.csv last.obj"
command="$pliant run ../scene.json --quiet --checkpoint 7"
for file in $files; do
    command="$command -o $file"
done

# ---- A run that is left alone ----

mkdir whole run
cd whole || exit 1
begin=$(date +%s%N)
$command --hash >../hashes || fail "the run that is left alone"
took=$((($(date +%s%N) - begin) / 1000000))
# shellcheck disable=SC2086
only $files
cd ..
lines=$(wc -l <whole/a.csv)
echo "a run takes $took ms"

# ---- Kills ----

# Old or complete. Tables have times in them, which differ.
check_files() {
    for file in $files; do
        [ "$(head -c 4 $file)" = old ] && continue
        case $file in
        *.csv) [ "$(wc -l <$file)" -eq "$lines" ] || fail "$1: $file is neither old nor complete" ;;
        *) cmp -s $file ../whole/$file || fail "$1: $file is neither old nor complete" ;;
        esac
    done
}

put_old() {
    for file in $files; do
        echo old >$file
    done
}

cd run || exit 1
put_old
RANDOM=${PLIANT_SEED:-1}
resume=""
killed=0 ended=0
while [ $killed -lt $kills ] && [ $failures -eq 0 ]; do
    $command --hash $resume >>../some 2>../said &
    running=$!
    moment=$((RANDOM % (took + 20)))
    sleep "$(printf '%d.%03d' $((moment / 1000)) $((moment % 1000)))"
    kill -9 $running 2>/dev/null
    wait $running 2>/dev/null
    status=$?
    check_files "kill $killed"
    if [ $status -eq 137 ]; then
        killed=$((killed + 1))
        resume=--resume
    elif [ $status -ne 0 ]; then
        fail "a resumed run: $status, $(cat ../said)"
    else
        # The run that was measured may have been the slow one: nobody is to wait for minutes for moments that come too late.
        ended=$((ended + 1))
        took=$((took * 3 / 4))
        put_old
        resume=""
    fi
done
$command --hash --resume >>../some 2>../said || fail "the last run: $(cat ../said)"
for file in $files; do
    ! [ "$(head -c 4 $file)" = old ] || fail "$file is still the old one"
done
check_files "the end"
# shellcheck disable=SC2086
only $files
# All hashes that were printed by anybody are right; a line may have been cut off.
grep -E '^[0-9]+ [0-9a-f]{16}$' ../some | sort -u | grep -vxFf ../hashes && fail "a hash differs"
[ "$(tail -n 1 ../some)" = "$(tail -n 1 ../hashes)" ] || fail "the last hash"
echo "$killed kills; $ended runs came to their end in between"
rm -rf ./* ./.[!.]*

# ---- A run that is surely in the middle ----

# killed_run WORDS…: killed once it has made a checkpoint.
killed_run() {
    "$pliant" run "$@" --quiet 2>/dev/null &
    local running=$!
    for _ in $(seq 600); do
        [ -z "$(find . -name '.*.pliant-checkpoint')" ] || break
        sleep 0.02
    done
    kill -9 $running
    wait $running 2>/dev/null
}

expect 0 "there is no checkpoint" "$pliant" run rope --frames 3 -o a.jsonl --resume --no-progress
only a.jsonl
killed_run ../scene.json --frames 100000 --checkpoint 5 -o a.jsonl -o 'f_%d.obj'
expect 2 "is of another scene" "$pliant" run rope --frames 100000 -o a.jsonl -o 'f_%d.obj' --resume
expect 2 "other options" "$pliant" run ../scene.json --frames 9 -o a.jsonl -o 'f_%d.obj' --resume
expect 2 "other options" "$pliant" run ../scene.json --frames 100000 --solver plain -o a.jsonl -o 'f_%d.obj' --resume
expect 2 "other outputs" "$pliant" run ../scene.json --frames 100000 -o a.jsonl --resume
expect 2 "other outputs" "$pliant" run ../scene.json --frames 100000 -o a.jsonl -o 'g_%d.obj' --resume
expect 2 "for runs with outputs" "$pliant" run rope --resume
expect 2 "for runs with outputs" "$pliant" run rope --checkpoint 5
expect 2 "only files can be added to" "$pliant" run rope -o /dev/null --resume
expect 2 "only files can be added to" "$pliant" run rope -o a.jsonl -o /dev/stdout --checkpoint 5
[ -e .a.jsonl.pliant-checkpoint ] || fail "a checkpoint that was refused must stay"
printf 'x' | dd of=.a.jsonl.pliant-checkpoint bs=1 seek=2000 conv=notrunc 2>/dev/null
expect 2 "is damaged" "$pliant" run ../scene.json --frames 100000 -o a.jsonl -o 'f_%d.obj' --resume
# Without --resume everything begins anew.
expect 0 "" "$pliant" run ../scene.json --frames 3 -q -o a.jsonl
rm -f f_*.obj .f_*
only a.jsonl

killed_run ../scene.json --frames 300 --checkpoint 5 -o a.jsonl
rm -f .a.jsonl.*.pliant-part
expect 0 "not there any more" "$pliant" run ../scene.json --frames 300 --resume -q -o a.jsonl
[ "$(wc -l <a.jsonl)" -eq 301 ] || fail "started again: $(wc -l <a.jsonl) lines"
only a.jsonl
rm -f a.jsonl

# Several runs in one file.
"$pliant" run bar-sweep --frames 60 -q -o ../sweep.jsonl || fail "several runs"
killed_run bar-sweep --frames 60 --checkpoint 59 -o sweep.jsonl
expect 0 "" "$pliant" run bar-sweep --frames 60 --resume -q -o sweep.jsonl
cmp -s sweep.jsonl ../sweep.jsonl || fail "several runs, killed and resumed"
only sweep.jsonl
rm -f sweep.jsonl

# A full disk ends a long run, but what there was at its last checkpoint is kept.
limit=$(($(wc -c <../whole/a.jsonl) / 2 / 1024))
echo old >a.jsonl
(ulimit -f $limit; failures=0; expect 1 "--resume goes on from there" "$pliant" run ../scene.json -q --checkpoint 5 -o a.jsonl; exit $failures) || failures=$((failures + 1))
[ "$(cat a.jsonl)" = old ] || fail "a full disk must leave what was there"
expect 0 "" "$pliant" run ../scene.json -q --resume -o a.jsonl
cmp -s a.jsonl ../whole/a.jsonl || fail "resumed after a full disk"
only a.jsonl
rm -f a.jsonl

# ---- Films ----

if "$pliant" run rope --quiet --frames 0 --size 32x18 -o a.png 2>/dev/null && command -v ffmpeg ffprobe >/dev/null; then
    rm -f a.png
    film="../scene.json --frames 60 --size 64x36 --checkpoint 20 -o it's.mp4 -o a.gif"
    # shellcheck disable=SC2086
    killed_run $film
    # shellcheck disable=SC2086
    killed_run $film --resume
    # shellcheck disable=SC2086
    expect 0 "going on from frame" "$pliant" run $film --resume --no-progress
    (cd ../whole && "$pliant" run ../scene.json --frames 60 --size 64x36 -q -o b.mp4 -o b.gif) || fail "a film"
    for kind in mp4 gif; do
        resumed=a.gif
        [ $kind = gif ] || resumed="it's.mp4"
        show="ffprobe -v error -select_streams v -show_entries frame=pts_time -of csv=p=0"
        $show "$resumed" | grep -o "[0-9.]*" >../resumed.times
        $show ../whole/b.$kind | grep -o "[0-9.]*" >../whole.times
        [ "$(grep -c . ../whole.times)" -ge 20 ] || fail "a film without pictures"
        cmp -s ../resumed.times ../whole.times || fail "$kind: other times of pictures"
    done
    # Without loss but for the palette, so the same bytes.
    cmp -s a.gif ../whole/b.gif || fail "the resumed .gif differs"
    only "it's.mp4" a.gif
else
    echo "no pictures or no ffmpeg: films are not tested"
fi

summary
