#!/bin/bash
# Outputs that cannot be written as asked: directories, full disks, readers that go away, programs and drivers that are
# missing, options that contradict each other. A message, a status that is not 0, no partial files, and what was there
# before stays. And what is said about outputs that were written. Label: slow.
. "${SOURCE_DIR:?}/tests/support/outside.sh"

run="$pliant run rope --no-progress --frames 20"
kinds="jsonl csv pc2 glb svg obj ply"

# Pictures where there are any.
pictures=""
if "$pliant" run rope --quiet --frames 0 --size 32x18 -o a.png 2>/dev/null; then
    pictures="png"
    ! command -v ffmpeg >/dev/null || pictures="png mp4 gif"
fi
rm -f a.png
[ -n "$pictures" ] || echo "no OpenGL: pictures are not tested"
kinds="$kinds $pictures"

# ---- What is said ----

outputs=""
for kind in $kinds; do
    outputs="$outputs -o a.$kind"
done
# shellcheck disable=SC2086
expect 0 "wrote a.jsonl (6 frames, " $run --size 64x36 $outputs -o 'f_%02d.obj' --every 4
for kind in $kinds; do
    grep -q "^wrote a.$kind (.*B)" ../said || fail "$kind: not said to be written"
    [ -s a.$kind ] || fail "a.$kind is not there"
done
grep -q "wrote f_00.obj to f_20.obj (6 files, " ../said || fail "a sequence: $(grep f_ ../said)"
rm -f a.* f_??.obj
leaves
expect 0 '"outputs":\[{"file":"a.jsonl","frames":3,"files":1,"bytes":[0-9]*}\]}' $run --frames 2 --json -o a.jsonl
expect 0 "" $run --quiet -o a.jsonl
[ ! -s ../said ] || fail "--quiet says something: $(cat ../said)"
expect 0 '"outputs"' $run --quiet --json -o a.jsonl
# In a pipe, no colours and no carriage returns.
"$pliant" run rope --frames 20 -o a.jsonl 2>&1 | grep -q "$(printf '[\r\033]')" && fail "escapes in a pipe"
leaves a.jsonl

# A run is the same whether or not somebody films it.
if [ "$pictures" != "" ]; then
    $run --quiet -o a.jsonl
    $run --quiet -o b.jsonl -o 'p_%d.png' --size 32x18
    cmp -s a.jsonl b.jsonl || fail "pictures change the run"
    rm -rf ./*
fi

# ---- Names ----

mkdir 'ein Ördner'
printf '{"pliant": 1, "name": "Überraschung 🐘", "bodies": [{"name": "größe", "model": {"shape": "bar"}}]}' >'ein Ördner/sçène 象.json'
expect 0 "Überraschung 🐘" "$pliant" run 'ein Ördner/sçène 象.json' --no-progress --frames 1 -o 'ein Ördner/ä 象.jsonl' -o 'ein Ördner/ö_%d.obj' \
    -o 'ein Ördner/ü.glb' -o "ein Ördner/it's \"a\" name.csv"
grep -q '"name":"größe"' 'ein Ördner/ä 象.jsonl' || fail "a name in UTF-8"
(cd 'ein Ördner' && ls -A | wc -l) | grep -q '^6$' || fail "files with names in UTF-8: $(ls -A 'ein Ördner')"
rm -rf ./*
long=$(printf 'x%.0s' $(seq 250))
for kind in $kinds; do
    expect 1 "File name too long" $run --size 32x18 -o "$long.$kind"
done
leaves

# ---- Places that cannot be written, before the first frame ----

for kind in $kinds; do
    expect 1 "cannot be written: No such file" "$pliant" run rope --frames 10000000 --size 32x18 -o "missing/a.$kind"
    mkdir "folder.$kind"
    expect 1 "is a directory" "$pliant" run rope --frames 10000000 --size 32x18 -o "folder.$kind"
    rmdir "folder.$kind"
    # One that cannot be written leaves the others alone.
    echo old >a.jsonl
    expect 1 "cannot be written" $run --size 32x18 -o a.jsonl -o "missing/a.$kind"
    [ "$(cat a.jsonl)" = old ] || fail "what was there: a.jsonl"
    leaves a.jsonl
done
if [ "$(id -u)" -ne 0 ]; then
    mkdir closed
    chmod a-w closed
    for kind in $kinds; do
        expect 1 "cannot be written: Permission denied" $run --size 32x18 -o "closed/a.$kind"
    done
    rmdir closed
    echo old >a.jsonl
    chmod a-w a.jsonl
    expect 1 "cannot be written: Permission denied" $run -o a.jsonl
    leaves a.jsonl
fi

# ---- Full disks ----

for kind in $kinds; do
    echo old >"a.$kind"
    # ffmpeg ends with its own message; the limit is for it as well.
    pattern="a.$kind: cannot be written: File too large"
    [ $kind != mp4 ] && [ $kind != gif ] || pattern="a.$kind: ffmpeg"
    (
        ulimit -f 2
        "$pliant" run rope --frames 40 --quiet --size 160x90 -o "a.$kind" 2>&1 | cat >../said
        exit "${PIPESTATUS[0]}"
    )
    [ $? -eq 1 ] || fail "$kind, a full disk: exit status"
    grep -q -- "$pattern" ../said || fail "$kind, a full disk: $(cat ../said)"
    [ "$(head -c 4 "a.$kind")" = old ] || fail "$kind: a full disk must leave what was there"
    leaves "a.$kind"
done
expect 1 "No space left on device" $run -o /dev/full
expect 1 "standard output" sh -c "$run >/dev/full"
expect 1 "standard output" sh -c "$run --json >/dev/full"
expect 1 "standard output" sh -c "'$pliant' demo --list >/dev/full"
leaves

# ---- A reader that goes away ----

$run --quiet --frames 20000 -o /dev/stdout -o a.jsonl 2>../said | head -n 1 >/dev/null
[ "${PIPESTATUS[0]}" -eq 1 ] || fail "a closed pipe: exit status"
grep -q "cannot be written: Broken pipe" ../said || fail "a closed pipe: $(cat ../said)"
leaves
# Standard output that is a file: the lines, and the summary behind them.
$run --frames 2 -o /dev/stdout >out 2>/dev/null
[ "$(grep -c '^{"frame"' out)" -eq 3 ] && grep -q "ms/frame" out || fail "lines to a file through /dev/stdout"
leaves out

# ---- What is missing ----

if [ "$pictures" != "" ]; then
    for kind in png mp4 gif; do
        echo old >"a.$kind"
        expect 1 "pictures need OpenGL" env __EGL_VENDOR_LIBRARY_FILENAMES=/nonexistent $run -o "a.$kind" -o a.jsonl
        [ "$(cat "a.$kind")" = old ] || fail "no OpenGL: a.$kind"
        leaves "a.$kind"
    done
    for kind in mp4 gif; do
        echo old >"a.$kind"
        expect 1 "ffmpeg, which was not found" env PATH=/nonexistent $run -o "a.$kind" -o a.jsonl
        [ "$(cat "a.$kind")" = old ] || fail "no ffmpeg: a.$kind"
        leaves "a.$kind"
    done
fi

# ---- Contradictions ----

expect 2 "known are .mp4 .*.jsonl" $run -o a.mkv
expect 2 "known are" $run -o noending
expect 2 "has an empty one" $run -o ''
expect 2 "named twice" $run -o a.jsonl -o a.jsonl
expect 2 "named twice" $run -o a.jsonl -o ./a.jsonl
expect 2 "named twice" $run -o a.jsonl -o ../here/a.jsonl
ln -s a.jsonl link.jsonl
touch a.jsonl
expect 2 "named twice" $run -o a.jsonl -o link.jsonl
rm -f link.jsonl a.jsonl
expect 2 "for runs with outputs" $run --resume
expect 2 "for runs with outputs" $run --checkpoint 10
expect 2 "only files can be added to later" $run --resume -o /dev/stdout
expect 2 "must be from 0" $run --checkpoint -1 -o a.jsonl
expect 2 "must be from 1" $run --every 0 -o a.jsonl
expect 2 "choose the one to write" "$pliant" run bar-sweep -o a.glb
expect 2 "choose the one to write" "$pliant" run bar-sweep -o a.pc2
leaves
expect 0 "wrote a.jsonl (1 frame, " "$pliant" run rope --frames 0 -o a.jsonl
leaves a.jsonl

# ---- Ctrl-C ----

# interrupt OUTPUTS…: once there is something to write. A shell without job control has its background commands ignore
# Ctrl-C.
interrupt() {
    : >../hashes
    env --default-signal=INT "$pliant" run rope --no-progress --frames 1000000 --hash "$@" >../hashes 2>../said &
    local running=$!
    for _ in $(seq 600); do
        [ "$(wc -l <../hashes)" -lt 100 ] || break
        sleep 0.05
    done
    kill -INT $running
    wait $running
    [ $? -eq 130 ] || fail "Ctrl-C: exit status: $(cat ../said)"
    grep -q "interrupted at frame [0-9]* of 1000000" ../said || fail "Ctrl-C: $(cat ../said)"
    last=$(grep -E '^[0-9]+ [0-9a-f]{16}$' ../hashes | tail -n 1 | cut -d ' ' -f 1)
}
interrupt -o a.jsonl -o a.csv -o a.pc2 -o a.glb -o a.svg -o last.obj
frames=$((last + 1))
[ "$(wc -l <a.jsonl)" -eq $frames ] || fail "Ctrl-C: $(wc -l <a.jsonl) lines for $frames frames"
[ "$(wc -l <a.csv)" -eq $((frames + 1)) ] || fail "Ctrl-C: $(wc -l <a.csv) rows for $frames frames"
[ "$(od -An -tu4 -j28 -N4 a.pc2 | tr -d ' ')" = $frames ] || fail "Ctrl-C: samples of .pc2"
[ "$(od -An -tu4 -j8 -N4 a.glb | tr -d ' ')" = "$(wc -c <a.glb)" ] || fail "Ctrl-C: the length of .glb"
grep -q "</svg>" a.svg || fail "Ctrl-C: the plot"
for file in a.jsonl a.csv a.pc2 a.glb; do
    grep -q "^wrote $file ($frames frames, " ../hashes || fail "Ctrl-C: $file is not said to be written"
done
leaves a.jsonl a.csv a.pc2 a.glb a.svg last.obj

summary
