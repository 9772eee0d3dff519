/* Broken scenes: each must give exactly this message, exit status 2, and leave nothing behind. The
   message is what a person sees first of this program when something went wrong: read it as one. */
#include "support/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct broken_scene {
    const char *what, *text;
    const char *message; /* behind "pliant: scene.json" */
} broken_scene;

static const broken_scene scenes[] = {
    {"not JSON at all", "hello",
     ":1:1: hello is not a value; a text stands in double quotes, and the words "
     "are true, false, null"},
    {"empty file", "", ":1:1: the file is empty"},
    {"cut off", "{\"pliant\": 1, \"bodies\": [",
     ":1:26: bodies[0]: the file ends where a value should be"},
    {"trailing comma", "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"}}],}",
     ":1:55: a comma must be followed by a key; remove the comma before this "
     "bracket"},
    {"comment",
     "{\"pliant\": 1, // one\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}}]}",
     ":1:15: JSON has no comments; put remarks into \"about\""},
    {"NaN",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0]], \"radius\": "
     "NaN, \"edges\": [[0, 1]]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:66: models.m.radius: NaN is not allowed: a number must be finite; "
     "give a value that is"},
    {"infinity",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"velocity\": [0, -Infinity, 0]}]}",
     ":3:46: bodies[0].velocity[1]: a number must be finite; give a value that "
     "is"},
    {"overflow",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"velocity\": [0, 1e999, 0]}]}",
     ":3:46: bodies[0].velocity[1]: this number is too large; the largest is "
     "about 1.8e308"},
    {"duplicate key",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}}],\n"
     " \"pliant\": 1}",
     ":3:2: pliant: the key \"pliant\" stands here for the second time, first "
     "in line 1; keep one of them"},
    {"not UTF-8", "{\"pliant\": 1, \"name\": \"\xff\"}",
     ":1:24: byte 0xFF is not valid UTF-8; save the file as UTF-8"},
    {"not an object", "[1, 2]", ":1:1: must be an object, not an array"},
    {"version missing", "{\"bodies\": [{\"model\": {\"shape\": \"bar\"}}]}",
     ":1:1: the key \"pliant\" is missing"},
    {"version from the future", "{\"pliant\": 2, \"bodies\": [{\"model\": {\"shape\": \"bar\"}}]}",
     ":1:12: pliant: must be 1, not 2"},
    {"no bodies", "{\"pliant\": 1}", ":1:1: the key \"bodies\" is missing"},
    {"empty bodies", "{\"pliant\": 1, \"bodies\": []}",
     ":1:25: bodies: must not be empty: there is nothing to simulate"},
    {"unknown top-level key",
     "{\"pliant\": 1, \"bodys\": [], \"bodies\": [{\"model\": {\"shape\": \"bar\"}}]}",
     ":1:15: bodys: a scene has no key \"bodys\"; did you mean \"bodies\"?"},
    {"unknown key without a likely slip",
     "{\"pliant\": 1, \"camera\": {}, \"bodies\": [{\"model\": {\"shape\": "
     "\"bar\"}}]}",
     ":1:15: camera: a scene has no key \"camera\"; known are $schema, pliant, "
     "name, about, world, models, materials, bodies, colliders, attachments, pins, drive, forces, "
     "runs"},
    {"unknown world key",
     "{\"pliant\": 1,\n"
     " \"world\": {\"iteratons\": 10},\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}}]}",
     ":2:12: world.iteratons: a world has no key \"iteratons\"; did you mean "
     "\"iterations\"?"},
    {"step zero",
     "{\"pliant\": 1,\n"
     " \"world\": {\"step\": 0},\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}}]}",
     ":2:20: world.step: must be greater than 0, not 0"},
    {"step negative",
     "{\"pliant\": 1,\n"
     " \"world\": {\"step\": -0.01},\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}}]}",
     ":2:20: world.step: must be greater than 0, not -0.01"},
    {"step a text",
     "{\"pliant\": 1,\n"
     " \"world\": {\"step\": \"fast\"},\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}}]}",
     ":2:20: world.step: must be a number, not a string"},
    {"iterations not whole",
     "{\"pliant\": 1,\n"
     " \"world\": {\"iterations\": 2.5},\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}}]}",
     ":2:26: world.iterations: must be a whole number"},
    {"iterations zero",
     "{\"pliant\": 1,\n"
     " \"world\": {\"iterations\": 0},\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}}]}",
     ":2:26: world.iterations: must be at least 1, not 0"},
    {"gravity a number",
     "{\"pliant\": 1,\n"
     " \"world\": {\"gravity\": -9.81},\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}}]}",
     ":2:23: world.gravity: must be three numbers [x, y, z], not a number"},
    {"gravity too short",
     "{\"pliant\": 1,\n"
     " \"world\": {\"gravity\": [0, -9.81]},\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}}]}",
     ":2:23: world.gravity: must be three numbers [x, y, z], not 2 elements"},
    {"unknown solver",
     "{\"pliant\": 1,\n"
     " \"world\": {\"solver\": \"stif\"},\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}}]}",
     ":2:22: world.solver: must be \"fast\", \"stiff\" or \"plain\", not \"stif\"; "
     "did you mean \"stiff\"?"},
    {"unknown shape",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"shape\": \"baar\"}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:28: models.m.shape: there is no shape \"baar\"; did you mean \"bar\"? "
     "known are bar, chain, sheet, box, creature, knot, coil"},
    {"shape and particles",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"shape\": \"bar\", \"positions\": []}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:35: models.m.positions: does not go with \"shape\": a ready-made shape "
     "has \"count\", \"size\" and \"braced\""},
    {"count without shape",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0]], \"radius\": "
     "0.1, \"edges\": [[0, 1]], \"count\": 3}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:90: models.m.count: goes with \"shape\" only"},
    {"count zero",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"shape\": \"bar\", \"count\": 0}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:44: models.m.count: must be at least 1, not 0"},
    {"count for the wrong axis",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"shape\": \"bar\", \"count\": [3, 3]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:44: models.m.count: is 3, 3, 0, but a bar has only one; leave the "
     "other numbers 0"},
    {"size negative",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"shape\": \"box\", \"size\": [1, -1, 1]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:47: models.m.size[1]: must be greater than 0, not -1"},
    {"neither shape nor particles",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"edges\": [[0, 1]]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:18: models.m: give one of \"shape\", \"file\", \"builtin\", \"particles\" or "
     "\"positions\""},
    {"model file with a wish",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"file\": \"a.pliant\", \"scale\": 2}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:39: models.m.scale: does not go with a model file, which is cooked already: it is taken "
     "as "
     "it is"},
    {"unknown built-in mesh",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"builtin\": \"dinosuar\"}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:30: models.m.builtin: there is no built-in mesh \"dinosuar\"; did you mean \"dinosaur\"? "
     "known are dinosaur, rabbit, armadillo, teddy, torus, column, car, cylinder, cuboid, sheet, "
     "rope"},
    {"kind without a mesh",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [[0, 0, 0]], \"radius\": 1, \"kind\": \"solid\"}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:58: models.m.kind: goes with \"file\" or \"builtin\" only"},
    {"particles of a mesh as an array",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"file\": \"a.obj\", \"particles\": [1]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:49: models.m.particles: must be a whole number, not an array"},
    {"count and distance of particles",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"builtin\": \"sheet\", \"particles\": 10, \"spacing\": 0.1}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:52: models.m.particles: \"particles\" and \"spacing\" say the same; give one of them"},
    {"two sources of a mesh",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"builtin\": \"sheet\", \"file\": \"a.obj\"}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:18: models.m: give one of \"file\" and \"builtin\""},
    {"no particles",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [], \"radius\": 1}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:32: models.m.positions: must not be empty: a model needs at least "
     "one particle"},
    {"edge to nowhere",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0]], \"radius\": "
     "0.1, \"edges\": [[0, 1], [1, 7]]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:93: models.m.edges[1][1]: there is no particle 7; there are 2, numbered "
     "from 0 to 1"},
    {"edge negative",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0]], \"radius\": "
     "0.1, \"edges\": [[0, -1]]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:85: models.m.edges[0][1]: there is no particle -1; there are 2, numbered "
     "from 0 to 1"},
    {"edge with three ends",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0]], \"radius\": "
     "0.1, \"edges\": [[0, 1, 1]]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:81: models.m.edges[0]: must have 2 numbers, one per particle, not "
     "3"},
    {"edge to itself",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0]], \"radius\": "
     "0.1, \"edges\": [[0, 1], [1, 1]]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:89: models.m.edges[1]: joins particle 1 to itself; an edge needs two "
     "different particles"},
    {"edge twice",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "
     "\"radius\": 0.1, \"edges\": [[0, 1], [1, 2], [1, 0]]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:108: models.m.edges[2]: joins particles 0 and 1, as edges[0] already "
     "does; give each pair once"},
    {"edges missing",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0]], \"radius\": "
     "0.1}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:18: models.m: the key \"edges\" is missing: it says which particles "
     "are joined"},
    {"disconnected",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "
     "\"radius\": 0.1, \"edges\": [[0, 1]]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:91: models.m.edges: particle 2 cannot be reached from particle 0 (2 "
     "of 3 can); add an edge, or make two models"},
    {"edge of no length",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [[0, 0, 0], [0, 0, 0]], \"radius\": "
     "0.1, \"edges\": [[0, 1]]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:81: models.m.edges[0]: particles 0 and 1 are at the same place; neighbours "
     "must be apart"},
    {"radius zero",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0]], \"radius\": "
     "0, \"edges\": [[0, 1]]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:66: models.m.radius: must be greater than 0, not 0"},
    {"radius negative in a list",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0]], \"radius\": "
     "[0.1, -0.1], \"edges\": [[0, 1]]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:72: models.m.radius[1]: must be greater than 0, not -0.1"},
    {"one of three radii zero",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"particles\": [{\"position\": [0, 0, 0], \"radii\": "
     "[0.1, 0, 0.1]}]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:72: models.m.particles[0].radii[1]: a radius must be greater than "
     "0"},
    {"radius and radii",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"particles\": [{\"position\": [0, 0, 0], \"radii\": "
     "[0.1, 0.1, 0.1], \"radius\": 0.1}]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:33: models.m.particles[0]: give either \"radius\" (a ball) or \"radii\" "
     "(an ellipsoid's three)"},
    {"too few radii",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0]], \"radius\": "
     "[0.1], \"edges\": [[0, 1]]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:66: models.m.radius: must have one element per particle, 2, not 1"},
    {"orientation zero",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"particles\": [{\"position\": [0, 0, 0], \"radius\": "
     "1, \"orientation\": [0, 0, 0, 0]}]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:85: models.m.particles[0].orientation: must not be zero; [0, 0, 0, "
     "1] is \"not turned\""},
    {"triangle without vertex",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0]], \"radius\": "
     "0.1, \"edges\": [[0, 1]], \"vertices\": [[0, 0, 0]], \"triangles\": [[0, "
     "0, 3]]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:136: models.m.triangles[0][2]: there is no vertex 3; there are 1, "
     "numbered from 0 to 0"},
    {"weights without influences",
     "{\"pliant\": 1,\n"
     " \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0]], \"radius\": "
     "0.1, \"edges\": [[0, 1]], \"vertices\": [[0, 0, 0]], \"weights\": [[1]]}},\n"
     " \"bodies\": [{\"model\": \"m\"}]}",
     ":2:18: models.m: \"influences\" and \"weights\" go together"},
    {"density zero",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"material\": {\"density\": 0}}]}",
     ":3:54: bodies[0].material.density: must be greater than 0, not 0"},
    {"young negative",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"material\": {\"young\": -5}}]}",
     ":3:52: bodies[0].material.young: must be greater than 0, not -5"},
    {"young and stiffness",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"material\": {\"young\": 1e6, \"stiffness\": "
     "1e6}}]}",
     ":3:42: bodies[0].material: give either \"young\" (Young's modulus) or "
     "\"stiffness\" (the raw k)"},
    {"unknown material",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"material\": \"ruber\"}]}",
     ":3:42: bodies[0].material: there is no material \"ruber\"; did you mean "
     "\"rubber\"? built in are jelly, slime, flesh, foam, sponge, dough, rubber, "
     "tyre, leather, cloth, rope, cork, plastic, wood, steel"},
    {"unknown material to be like",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"material\": {\"like\": \"unobtainium\"}}]}",
     ":3:51: bodies[0].material.like: there is no material \"unobtainium\"; "
     "built in are jelly, slime, flesh, foam, sponge, dough, rubber, tyre, "
     "leather, cloth, rope, cork, plastic, wood, steel"},
    {"unknown model",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"baz\"}]}",
     ":3:23: bodies[0].model: there is no model \"baz\"; did you mean \"bar\"?"},
    {"model of the wrong type",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": 3}]}",
     ":3:23: bodies[0].model: must be the name of a model, or an object, not "
     "a number"},
    {"model missing",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"name\": \"x\"}]}",
     ":3:13: bodies[0]: the key \"model\" is missing"},
    {"duplicate body name",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"name\": \"a\", \"model\": \"bar\"},\n"
     " {\"name\": \"a\", \"model\": \"bar\"}]}",
     ":4:11: bodies[1].name: bodies[0] has this name already; give each body "
     "its own"},
    {"empty name",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"name\": \"\", \"model\": \"bar\"}]}",
     ":3:22: bodies[0].name: must not be empty"},
    {"painted map of the wrong length",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"edge_stiffness\": [1, 2]}]}",
     ":3:48: bodies[0].edge_stiffness: must have one factor per edge, 19, not "
     "2"},
    {"painted factor zero",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"particle_density\": 0}]}",
     ":3:50: bodies[0].particle_density: must be greater than 0, not 0"},
    {"fixed particle that does not exist",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"fixed\": [0, 20]}]}",
     ":3:43: bodies[0].fixed[1]: there is no particle 20; the model has 20, "
     "numbered from 0 to 19"},
    {"fixed by an unknown word",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"fixed\": [\"frist\"]}]}",
     ":3:40: bodies[0].fixed[0]: must be \"first\", \"last\" or \"all\", not "
     "\"frist\"; did you mean \"first\"?"},
    {"box without particles",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"fixed\": [{\"box\": [[5, 5, 5], "
     "[6, 6, 6]]}]}]}",
     ":3:40: bodies[0].fixed[0]: no particles of the model lie in this box "
     "(in the model's own coordinates)"},
    {"box upside down",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"fixed\": [{\"box\": [[1, 0, 0], "
     "[0, 1, 1]]}]}]}",
     ":3:60: bodies[0].fixed[0].box[1]: the second corner must not lie below "
     "the first, along no axis"},
    {"two start states",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"state\": {\"collapse\": true, \"mirror\": "
     "\"x\"}}]}",
     ":3:39: bodies[0].state: give only one of \"collapse\", \"mirror\", \"random\" "
     "and \"positions\""},
    {"start positions of the wrong length",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"state\": {\"positions\": [[0, 0, "
     "0]]}}]}",
     ":3:53: bodies[0].state.positions: must have one element per particle, "
     "20, not 1"},
    {"mirror along nothing",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"state\": {\"mirror\": \"w\"}}]}",
     ":3:50: bodies[0].state.mirror: must be \"x\", \"y\" or \"z\", not \"w\""},
    {"rotation about no axis",
     "{\"pliant\": 1,\n"
     " \"models\": {\"bar\": {\"shape\": \"bar\"}},\n"
     " \"bodies\": [{\"model\": \"bar\", \"rotation\": {\"axis\": [0, 0, 0], "
     "\"degrees\": 90}}]}",
     ":3:51: bodies[0].rotation.axis: must not be zero: a direction needs a "
     "length"},
    {"pin on an unknown body",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"pins\": [{\"body\": \"baar\", \"particle\": 0}]}",
     ":3:20: pins[0].body: there is no body \"baar\"; did you mean \"bar\"?"},
    {"pin nowhere",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"pins\": [{\"body\": \"bar\"}]}",
     ":3:11: pins[0]: give one of \"particle\", \"particles\", \"vertex\", "
     "\"vertices\" or \"point\", not none"},
    {"pin in two places",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"pins\": [{\"particle\": 0, \"vertex\": 0}]}",
     ":3:11: pins[0]: give one of \"particle\", \"particles\", \"vertex\", "
     "\"vertices\" or \"point\", not several"},
    {"pin on a vertex that does not exist",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"pins\": [{\"vertex\": 1000000}]}",
     ":3:22: pins[0].vertex: there is no vertex 1000000; the model has 674, "
     "numbered from 0 to 673"},
    {"pin without strength",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"pins\": [{\"particle\": 0, \"strength\": 0}]}",
     ":3:39: pins[0].strength: must be greater than 0, not 0"},
    {"keys out of order",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"pins\": [{\"particle\": 0, \"keys\": [{\"time\": 1, \"position\": "
     "[0, 0, 0]}, {\"time\": 1, \"position\": [1, 0, 0]}]}]}",
     ":3:81: pins[0].keys[1].time: must be later than the key before"},
    {"key of the wrong kind",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"pins\": [{\"particle\": 0, \"keys\": [{\"time\": 1, \"direction\": "
     "[0, 0, 1]}]}]}",
     ":3:36: pins[0].keys[0]: a key of a position pin has \"time\" and \"position\""},
    {"opposite directions",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"pins\": [{\"particle\": 0, \"direction\": [1, 0, 0], \"keys\": [{\"time\": "
     "0, \"direction\": [1, 0, 0]}, {\"time\": 1, \"direction\": [-1, 0, 0]}]}]}",
     ":3:122: pins[0].keys[1].direction: is opposite to the key before, so "
     "no way is the shorter; put a key between them"},
    {"turn without speed",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"pins\": [{\"particle\": 0, \"turn\": {\"axis\": [0, 1, 0]}}]}",
     ":3:35: pins[0].turn: give either \"speed\" (degrees per second) or \"keys\""},
    {"turn about nothing",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"pins\": [{\"particle\": 0, \"turn\": {\"axis\": [0, 0, 0], \"speed\": "
     "1}}]}",
     ":3:44: pins[0].turn.axis: must not be zero: a direction needs a length"},
    {"drive that does not move",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"drive\": [{\"particle\": 0}]}",
     ":3:12: drive[0]: give \"keys\", \"turn\" or both; what only stays put "
     "goes into the body's \"fixed\""},
    {"drive of a particle that does not exist",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"drive\": [{\"particle\": 99, \"turn\": {\"axis\": [1, 0, 0], \"speed\": "
     "10}}]}",
     ":3:25: drive[0].particle: there is no particle 99; the model has 20, "
     "numbered from 0 to 19"},
    {"which body",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}}, {\"model\": {\"shape\": "
     "\"bar\"}}],\n"
     " \"forces\": [{\"force\": [0, 1, 0]}]}",
     ":3:13: forces[0]: the key \"body\" is missing: with several bodies it "
     "must say which"},
    {"force without force",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"}}],\n"
     " \"forces\": [{\"particle\": 0}]}",
     ":2:13: forces[0]: the key \"force\" is missing"},
    {"force that ends before it begins",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"}}],\n"
     " \"forces\": [{\"force\": [0, 1, 0], \"from\": 2, \"to\": 1}]}",
     ":2:51: forces[0].to: must not be before \"from\""},
    {"two runs of one name",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"}}],\n"
     " \"runs\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}",
     ":2:35: runs[1].name: runs[0] has this name already; give each run its "
     "own"},
    {"names with other letters",
     "{\"pliant\": 1,\n"
     " \"models\": {\"gr\xc3\xb6\xc3\x9f"
     "e \\u2192 x\": {\"shape\": \"baar\"}},\n"
     " \"bodies\": [{\"model\": \"x\"}]}",
     ":2:41: models[\"gr\xc3\xb6\xc3\x9f"
     "e \xe2\x86\x92 x\"].shape: there "
     "is no shape \"baar\"; did you mean \"bar\"? known are bar, chain, sheet, "
     "box, creature, knot, coil"},
};

static char directory[] = "/tmp/pliant-broken-XXXXXX";

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void read_file(const char *name, char *out, size_t size)
{
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    size_t length = fread(out, 1, size - 1, file);
    out[length] = 0;
    fclose(file);
}

/* The scene and the two redirections are all there is. */
static int count_files(void)
{
    DIR *listing = opendir(".");
    int count = 0;
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return count;
}

static void every_broken_scene_is_explained(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        char expected[2048], got[2048], printed[64];
        write_file("scene.json", scenes[i].text);
        int status = system(PLIANT_COMMAND " run scene.json --frames 2 --no-progress -o out.jsonl "
                                           "-o frame_%04d.obj >stdout 2>stderr");
        read_file("stderr", got, sizeof got);
        read_file("stdout", printed, sizeof printed);
        snprintf(expected, sizeof expected, "pliant: scene.json%s\n", scenes[i].message);
        if (strcmp(got, expected) != 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 2 ||
            printed[0] || count_files() != 3) {
            print_error("%s: exit status %d, %d files\n  expected %s  got      %s", scenes[i].what,
                        WEXITSTATUS(status), count_files(), expected, got);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    static const char *const names[] = {"scene.json", "stdout", "stderr"};
    for (int i = 0; i < 3; i++)
        unlink(names[i]);
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_broken_scene_is_explained)};
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
