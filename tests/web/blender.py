# Imports a .glb into Blender and compares where the vertices are with an .obj of the same frame:
#   blender -b --factory-startup -P blender.py -- FILE.glb FRAMES_PER_SECOND FRAME=FILE.obj...
# Blender has frames of its own, 24 per second, for what the file says in seconds, and z for up.
import sys

import bpy
import numpy

# The importer of Debian 12 uses a name that the NumPy of Debian 12 has dropped.
if not hasattr(numpy, "bool"):
    numpy.bool = bool

words = sys.argv[sys.argv.index("--") + 1:]


def read_obj(name):
    objects = []
    with open(name) as lines:
        for line in lines:
            if line.startswith("o "):
                objects.append((line[2:].strip(), []))
            elif line.startswith("v "):
                objects[-1][1].append(tuple(map(float, line.split()[1:])))
    return objects


def vertices_now(thing):
    shown = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    points = [shown.matrix_world @ v.co for v in mesh.vertices]
    shown.to_mesh_clear()
    return [(p.x, p.z, -p.y) for p in points]


# The importer merges no vertices, but joins the primitives of a mesh: what is compared is each of its vertices with the
# nearest of ours.
def worst_error(ours, theirs):
    from mathutils.kdtree import KDTree
    tree = KDTree(len(ours))
    for i, p in enumerate(ours):
        tree.insert(p, i)
    tree.balance()
    return max(tree.find(p)[2] for p in theirs)


bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.gltf(filepath=words[0], merge_vertices=False)
scene = bpy.context.scene
seconds = scene.render.fps / scene.render.fps_base
rate = float(words[1])
failed = False
for word in words[2:]:
    frame, name = word.split("=", 1)
    at = int(frame) / rate * seconds
    scene.frame_set(int(at), subframe=at - int(at))
    objects = read_obj(name)
    points = [p for _, vertices in objects for p in vertices]
    size = sum((max(p[k] for p in points) - min(p[k] for p in points)) ** 2 for k in range(3)) ** 0.5
    worst = 0
    for body, vertices in objects:
        thing = bpy.data.objects.get(body)
        if thing is None or thing.type != "MESH":
            print(f"blender: there is no mesh {body}: {[o.name for o in bpy.data.objects][:20]}")
            failed = True
            continue
        worst = max(worst, worst_error(vertices, vertices_now(thing)))
    print(f"blender: frame {frame}: off by {worst / size:.1e} of the scene's size")
    failed |= not worst <= 1e-4 * size
sys.exit(1 if failed else 0)
