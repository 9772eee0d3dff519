#!/bin/bash
# Every mesh of the collection beside the source tree cooks and simulates 60 frames with a finite state, or is refused
# with a reason; surfaces that are closed all cook. Without PLIANT_THOROUGH=1, every third of them. Label: slow.
set -u
pliant=${PLIANT:?the built command}
meshes=${SOURCE_DIR:?}/../shared/meshes
if [ ! -d "$meshes" ]; then
    echo "skipped: there is no collection of meshes at ../shared/meshes"
    exit 77
fi
every=3
[ "${PLIANT_THOROUGH:-0}" = 0 ] || every=1
table=$("$SOURCE_DIR/tools/mesh-table" -t -e "$every" "$pliant" "$meshes")
status=$?
echo "$table"
if echo "$table" | grep '^| \(surface\|glb\|tet\)/' | grep -q ' refused '; then
    echo "FAILED: a mesh that is no trouble was refused"
    status=1
fi
exit $status
