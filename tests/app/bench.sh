#!/bin/bash
# pliant bench: the paper's Table 1 comes in one command, every row and number is there in words and as JSON, and mistakes
# are told. Label: slow
. "${SOURCE_DIR:?}/tests/support/outside.sh"

"$pliant" bench --list >list || fail "--list"
for table in frames iterations stiffness clusters convergence examples tetrahedra; do
    grep -q "^$table " list || fail "--list does not name $table"
    "$pliant" bench --help | grep -q "$table" || fail "the help does not name $table"
done
"$pliant" bench frame 2>said
[ $? -eq 2 ] || fail "a table that is not there: exit status"
grep -q 'did you mean "frames"' said || fail "a table that is not there: no hint"

# Table 1 without naming it.
"$pliant" bench --quick --json >table.json 2>progress || fail "bench --quick --json"
"$pliant" bench iterations --quick --json >iterations.json 2>/dev/null || fail "bench iterations"
"$pliant" bench iterations --quick >iterations.txt 2>/dev/null || fail "bench iterations in words"
grep -q "^machine " iterations.txt || fail "no machine"
grep -q "paper .* 27\.0 *7\.0" iterations.txt || fail "the paper's numbers are missing"
"$pliant" bench examples --quick --json >examples.json 2>/dev/null || fail "bench examples"
if [ "${PLIANT_THOROUGH:-0}" != 0 ]; then
    "$pliant" bench tetrahedra --quick --json >tetrahedra.json 2>/dev/null || fail "bench tetrahedra"
    [ "$(grep -c '"table":"tetrahedra"' tetrahedra.json)" -eq 9 ] || fail "bench tetrahedra: rows"
fi
if ! command -v python3 >/dev/null; then
    echo "no python3: the numbers were not looked at"
    [ "$failures" -eq 0 ]
    exit
fi
python3 - <<'END' || fail "the numbers"
import json
import sys

wrong = []


def check(condition, what):
    if not condition:
        wrong.append(what)


# Table 1 of the paper: nodes, edges, sub-steps, iterations, local, global, collision, total.
paper = {
    "bar-manipulation": (20, 19, 1, 10, 0.27, 0.07, None, 0.34),
    "bar-stiffness": (20, 19, 1, 10, 0.27, 0.07, None, 0.34),
    "dinosaur-collapse": (100, 261, 1, 10, 0.70, 0.24, None, 0.94),
    "dinosaur-fall": (100, 261, 3, 3, 0.74, 0.24, 0.16, 1.15),
    "sheet-on-turning-rod": (256, 480, 1, 10, 1.63, 0.58, 0.09, 2.32),
    "rabbit-on-sheet": (496, 1647, 6, 2, 5.60, 2.15, 4.71, 12.48),
    "crowd-52": (4120, 18574, 6, 2, 7.86, 2.91, 15.46, 26.24),
    "crowd-180": (4404, 18640, 6, 2, 8.87, 3.28, 14.97, 27.14),
}
table = json.load(open("table.json"))
machine = table["machine"]
check(machine["processor"] and machine["cores"] > 0 and machine["simd"] in (4, 8, 16), "machine")
check(machine["threads"] == 1 and machine["compiler"] and machine["version"], "machine")
check(table["quick"] is True, "quick")
check([row["row"] for row in table["rows"]] == list(paper), "rows")
for row in table["rows"]:
    name, ours, theirs = row["row"], row["ours_ms"], row["paper_ms"]
    nodes, edges, substeps, iterations, local, glob, contact, total = paper[name]
    check(row["particles"] == nodes, name + ": particles")
    check((row["substeps"], row["iterations"]) == (substeps, iterations), name + ": steps")
    check((row["paper"]["particles"], row["paper"]["edges"]) == (nodes, edges), name + ": the paper's graph")
    check((theirs["local"], theirs["global"], theirs["contact"], theirs["total"]) == (local, glob, contact, total),
          name + ": the paper's times")
    for stage in ("local", "global", "total"):
        check(0 < ours[stage] < 1000, f"{name}: {stage}")
    check(row["vertices"] == 0 or ours["skin"] > 0, name + ": skin")
    stages = ours["local"] + ours["global"] + ours["contact"] + ours["other"]
    # On a busy machine most of the wall time may pass elsewhere.
    check(0.01 * ours["total"] < stages < 1.1 * ours["total"], f"{name}: stages {stages} of {ours['total']}")
    check(abs(row["ratio"] - total / ours["total"]) < 1e-3 * row["ratio"], name + ": ratio")
rows = json.load(open("iterations.json"))["rows"]
check(len(rows) == 20, "iterations: rows")
for row in rows:
    stages = ("local", "global") if row["solver"] == "fast" else ("stiff",)
    for stage in stages + ("predict", "finish"):
        check(0 < row["ours_ms"][stage] < 10, f"iterations: {stage}")
# Table 1 of Koyama et al.: particles, matching, projection, total.
koyama = {
    "cuboid, global": (225, 0.21, 0.091, 0.33),
    "cuboid, local": (225, 0.21, 0.17, 0.40),
    "cylinder": (2025, 2.0, 0.86, 3.1),
    "teddy": (1280, 1.3, 0.72, 2.2),
    "car": (192, 0.17, 0.078, 0.27),
    "slope": (2250, None, None, None),
    "five, global": (225, None, None, None),
    "five, local": (225, None, None, None),
}
rows = json.load(open("examples.json"))["rows"]
check([row["row"] for row in rows] == list(koyama), "examples: rows")
for row in rows:
    name, ours, theirs = row["row"], row["ours_ms"], row["paper_ms"]
    check((row["particles"], theirs["matching"], theirs["project"], theirs["total"]) == koyama[name], name + ": the paper's")
    check(0 < ours["project"] < ours["total"], f"{name}: projection {ours['project']} of {ours['total']}")
    check(abs(sum(ours[k] for k in ("matching", "project", "other")) - ours["total"]) < 1e-3 * ours["total"], name + ": stages add up")
    check(row["poses"] == (5 if "five" in name else 1), name + ": poses")
    check(row["groups"] == (row["particles"] if "local" in name else 2 if name == "teddy" else 1), name + ": groups")
for line in wrong:
    print("wrong:", line)
sys.exit(bool(wrong))
END

summary
