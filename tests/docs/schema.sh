#!/usr/bin/env bash
# Every scene shipped, every whole example and every seed of the scene fuzzer that reads validates against
# docs/scene.schema.json; what the reader refuses for its form the schema refuses too. Needs Python's jsonschema.
set -euo pipefail

: "${SOURCE_DIR:?is set by ctest}" "${PLIANT:?}"
python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null || exit 77
cd "$SOURCE_DIR"
python3 - <<'END'
import copy, glob, json, os, re, subprocess, sys, tempfile
import jsonschema

schema = json.load(open("docs/scene.schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
judge = jsonschema.Draft202012Validator(schema)
wrong = 0

def complain(name, text):
    global wrong
    wrong += 1
    print(f"{name}: {text}")

def must_be_good(name, scene):
    for error in judge.iter_errors(scene):
        complain(name, "/".join(map(str, error.absolute_path)) + ": " + error.message[:200])

def reader_accepts(scene):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(scene, file)
        file.flush()
        return subprocess.run([os.environ["PLIANT"], "check", "--fast", "-q", file.name],
                              stderr=subprocess.DEVNULL).returncode == 0

files = sorted(glob.glob("scenes/*.json"))
for name in files:
    must_be_good(name, json.load(open(name)))
seeds = [open(name, "rb").read().split(b"\0")[0] for name in sorted(glob.glob("fuzz/seeds/fuzz_scene/*.json"))]
seeds = [json.loads(seed) for seed in seeds]
for number, seed in enumerate(seeds):
    must_be_good(f"seed {number}", seed)
page = open("docs/scene-format.md").read()
for number, text in enumerate(re.findall(r"^```json\n(.*?)^```$", page, re.S | re.M)):
    text = text if text.startswith("{") else '{"pliant": 1, ' + text + "}"
    must_be_good(f"example {number + 1}", json.loads(text))

# Damaged in one place: a key that nobody knows, a value of another kind. The reader refuses all of these; so must the schema.
def places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, path + (key,))

def at(value, path):
    for key in path:
        value = value[key]
    return value

tried = 0
for scene in seeds:
    for path in list(places(scene)):
        whole = at(scene, path)
        if isinstance(whole, dict) and path and path[-1] not in ("models", "materials"):
            damaged = copy.deepcopy(scene)
            at(damaged, path)["nonsense"] = 1
        elif path and not isinstance(whole, (dict, list)):
            damaged = copy.deepcopy(scene)
            at(damaged, path[:-1])[path[-1]] = None
        else:
            continue
        tried += 1
        if judge.is_valid(damaged):
            complain("the schema accepts", f"a scene damaged at {path}")
        elif tried % 16 == 0 and reader_accepts(damaged):
            complain("the reader accepts", f"a scene damaged at {path}")
if len(files) < 15 or tried < 150:
    complain("too few", f"{len(files)} scenes, {tried} damaged ones")
print(f"{len(files)} scenes, {len(seeds)} seeds, {tried} damaged ones")
sys.exit(wrong != 0)
END
