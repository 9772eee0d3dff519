# For tests of the command from outside, which source this file: the command in $pliant, an empty directory to be in that
# is removed at the end, and a count of failures. Tests end with `summary`.
set -u
pliant=${PLIANT:?the built command}
work=$(mktemp -d) || exit 1
trap 'cd /; rm -rf "$work"' EXIT
mkdir "$work/here"
cd "$work/here" || exit 1
failures=0
# What drivers keep until the program ends is not ours.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect STATUS PATTERN command…: exit status, and a pattern in what it says on either stream; that is then in $work/said.
expect() {
    local status=$1 pattern=$2 got
    shift 2
    "$@" >"$work/said" 2>&1 </dev/null
    got=$?
    [ "$got" -eq "$status" ] || fail "exit status $got instead of $status: $* ($(head -c 300 "$work/said"))"
    [ -z "$pattern" ] || grep -q -- "$pattern" "$work/said" ||
        fail "\"$pattern\" is missing in what it says: $* ($(head -c 300 "$work/said"))"
}

# only FILE…: nothing but these is here.
only() {
    local found expected=""
    found=$(ls -A | sort | tr '\n' ' ')
    [ $# -eq 0 ] || expected=$(printf '%s\n' "$@" | sort | tr '\n' ' ')
    [ "$found" = "$expected" ] || fail "files left behind: $found instead of $*"
}

# leaves FILE…: nothing but these is here, and then nothing at all.
leaves() {
    only "$@"
    rm -rf ./* ./.[!.]*
}

summary() {
    echo "$failures failure(s)"
    [ "$failures" -eq 0 ]
}
