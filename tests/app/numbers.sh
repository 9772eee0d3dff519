#!/bin/bash
# Tables, plots, caches and meshes of the command: complete, shorter after Ctrl-C, absent when the disk is full, and read
# by other programs.
. "${SOURCE_DIR:?}/tests/support/outside.sh"

# ---- All of them at once ----

"$pliant" run bar-stiffness --frames 12 -q -o a.csv -o a.svg -o a.pc2 -o a.ply -o 'f_%02d.ply' -o a.obj || fail "run"
only a.csv a.svg a.pc2 a.ply a.obj f_{00..12}.ply
cmp -s a.ply f_12.ply || fail "a single .ply is the last frame"
[ "$(tr -d '\r' <a.csv | wc -l)" -eq 14 ] || fail "a row per frame, one for the start, and the names"
head -n 1 a.csv | grep -q '^frame,time_s,kinetic_J,' || fail "names of columns"

# Energies do not depend on the number of threads.
"$pliant" run bar-stiffness --frames 12 -q --threads 2 -o b.csv || fail "run with threads"
cmp -s <(cut -d, -f1-14 a.csv) <(cut -d, -f1-14 b.csv) || fail "energies differ"

# Several runs in one table, and not in one plot.
"$pliant" run bar-sweep --frames 2 -q -o runs.csv || fail "runs"
head -n 1 runs.csv | grep -q '^run,frame,' || fail "a column for the run"
"$pliant" run bar-sweep --frames 2 -q -o runs.svg 2>said
[ $? -eq 2 ] || fail "a plot of several runs"
grep -q -e "--run" said || fail "a plot of several runs: no hint"
[ ! -e runs.svg ] || fail "a plot of several runs is there"

if command -v python3 >/dev/null; then
    python3 - <<'END' || fail "what python reads"
import csv
import struct
import xml.dom.minidom

rows = list(csv.DictReader(open("a.csv", newline="")))
assert [int(row["frame"]) for row in rows] == list(range(13))
assert rows[0]["total_ms"] == "" and float(rows[1]["total_ms"]) > 0
for row in rows:
    parts = sum(float(row[name + "_J"]) for name in ("kinetic", "potential", "elastic", "pins"))
    assert abs(parts - float(row["mechanical_J"])) <= 1e-9 * abs(parts) + 1e-12
assert int(rows[5]["awake_bodies"]) == 3
names = {row["run"] for row in csv.DictReader(open("runs.csv", newline=""))}
assert len(names) > 1 and "10 iterations" in names
text = xml.dom.minidom.parse("a.svg").getElementsByTagName("text")
words = [t.firstChild.data for t in text if t.firstChild]
assert "bar-stiffness" in words and any(w.startswith("Energy, ") for w in words) and "contact" in words, words
data = open("a.pc2", "rb").read()
magic, version, points, start, rate, samples = struct.unpack_from("<12siiffi", data)
assert (magic, version, start, rate, samples) == (b"POINTCACHE2\0", 1, 0, 1, 13)
assert len(data) == 32 + 12 * points * samples
last = struct.unpack_from(f"<{3 * points}f", data, 32 + 12 * points * 12)
vertices = [float(x) for line in open("a.obj") if line.startswith("v ") for x in line.split()[1:]]
assert len(vertices) == 3 * points
assert max(abs(a - b) for a, b in zip(last, vertices)) < 1e-5
END
fi
rm -rf ./*

# ---- Shortened, and not at all ----

env --default-signal=INT "$pliant" run bar-stiffness --frames 1000000 -q -o a.csv -o a.svg -o a.pc2 2>said &
running=$!
for _ in $(seq 600); do
    [ "$(cat .a.pc2.*.pliant-part 2>/dev/null | wc -c)" -gt 200000 ] && break
    sleep 0.1
done
kill -INT $running
wait $running
[ $? -eq 130 ] || fail "Ctrl-C: exit status"
rm -f said
only a.csv a.svg a.pc2
grep -q '</svg>' a.svg || fail "Ctrl-C: a whole plot"
samples=$(od -A n -t u4 -j 28 -N 4 a.pc2 | tr -d ' ')
points=$(od -A n -t u4 -j 16 -N 4 a.pc2 | tr -d ' ')
[ "$(stat -c %s a.pc2)" -eq $((32 + 12 * samples * points)) ] || fail "Ctrl-C: the cache says how long it is"
[ "$(wc -l <a.csv)" -eq $((samples + 1)) ] || fail "Ctrl-C: as many rows as samples"

# ---- Killed, and gone on with ----

rm -rf ./*
outputs="-o a.pc2 -o a.csv -o a.svg"
# shellcheck disable=SC2086
"$pliant" run bar-stiffness --frames 3000 -q $outputs || fail "run to the end"
mkdir whole
mv a.* whole
# shellcheck disable=SC2086
"$pliant" run bar-stiffness --frames 3000 -q --checkpoint 100 $outputs 2>/dev/null &
running=$!
for _ in $(seq 600); do
    [ -s .a.pc2.pliant-checkpoint ] && break
    sleep 0.05
done
kill -KILL $running
wait $running 2>/dev/null
# shellcheck disable=SC2086
"$pliant" run bar-stiffness --frames 3000 -q --checkpoint 100 --resume $outputs || fail "resume"
cmp -s a.pc2 whole/a.pc2 || fail "resume: another cache"
cmp -s <(cut -d, -f1-14 a.csv) <(cut -d, -f1-14 whole/a.csv) || fail "resume: another table"
# Times differ from run to run, and are drawn as areas; energies are lines.
cmp -s <(grep -e 'class="line".*d55e00' a.svg) <(grep -e 'class="line".*d55e00' whole/a.svg) || fail "resume: another plot"
rm -rf whole
only a.csv a.svg a.pc2

for name in a.csv a.svg a.pc2 a.ply; do
    echo old >$name
    (ulimit -f 1; "$pliant" run bar-stiffness --frames 60 -q -o $name 2>said)
    [ $? -eq 1 ] || fail "$name on a full disk: exit status"
    grep -q "$name: cannot be written: File too large" said || fail "$name on a full disk: $(cat said)"
    [ "$(cat $name)" = old ] || fail "$name on a full disk: what was there is gone"
    "$pliant" run bar-stiffness --frames 1 -q -o missing/$name 2>said
    [ $? -eq 1 ] || fail "$name in no directory: exit status"
done
rm -f said
only a.csv a.svg a.pc2 a.ply

summary
