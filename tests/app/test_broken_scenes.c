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
    const char *message; /* behind "pliant: scene.json", or "pliant: " if it is not about that */
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
     ":1:1: the key \"pliant\" is missing; write \"pliant\": 1 (the version of the format)"},
    {"version from the future", "{\"pliant\": 2, \"bodies\": [{\"model\": {\"shape\": \"bar\"}}]}",
     ":1:12: pliant: must be 1, not 2"},
    {"no bodies", "{\"pliant\": 1}",
     ":1:1: the key \"bodies\" is missing; write \"bodies\": [{\"model\": {\"shape\": \"bar\"}}]"},
    {"empty bodies", "{\"pliant\": 1, \"bodies\": []}",
     ":1:25: bodies: must not be empty: there is nothing to simulate"},
    {"unknown top-level key",
     "{\"pliant\": 1, \"bodys\": [], \"bodies\": [{\"model\": {\"shape\": \"bar\"}}]}",
     ":1:15: bodys: a scene has no key \"bodys\"; did you mean \"bodies\"?"},
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
     "known are bar, chain, sheet, box, creature, knot, coil, block"},
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
     ":3:13: bodies[0]: the key \"model\" is missing; write \"model\": {\"shape\": \"bar\"}, or "
     "the name of one under \"models\""},
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
     ":3:36: pins[0].keys[0]: a key of positions has \"time\" and \"position\""},
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
     ":2:13: forces[0]: give one of \"force\" (newtons) and \"squeeze\""},
    {"force and squeeze",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"}}],\n"
     " \"forces\": [{\"force\": [0, 1, 0], \"squeeze\": [1, 0, 0]}]}",
     ":2:13: forces[0]: give one of \"force\" (newtons) and \"squeeze\""},
    {"squeeze of a particle",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"}}],\n"
     " \"forces\": [{\"squeeze\": [1, 0, 0],\n"
     "  \"particle\": 0}]}",
     ":3:15: forces[0].particle: does not go with \"squeeze\", which acts on all particles"},
    {"clustered without clusters",
     "{\"pliant\": 1, \"bodies\": [{\"model\": \n"
     " {\"shape\": \"box\"}, \"clustered\": true}]}",
     ":2:2: bodies[0].model: has no clusters; give it some: \"clusters\" in a scene, "
     "pl_model_cluster in C"},
    {"clustered with a modulus",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"box\", \"clusters\": 4}, "
     "\"clustered\": true, \"young\": 1e5}]}",
     ":1:26: bodies[0]: \"young\" is for bodies with edges; a clustered body has \"frequency\" and "
     "\"damping\" in \"clustered\""},
    {"frequency and alpha",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"box\", \"clusters\": 4},\n"
     " \"clustered\": {\"frequency\": 20, \"alpha\": 1}}]}",
     ":2:15: bodies[0].clustered: \"frequency\" and \"alpha\" say the same; give one of them"},
    {"members of a shape",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"box\", \"clusters\": {\n"
     " \"members\": [[0, 1, 2, 3]]}}, \"clustered\": true}]}",
     ":2:13: bodies[0].model.clusters.members: is for models with \"particles\" or \"positions\"; "
     "elsewhere clusters are found"},
    {"members and a count",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"positions\": [[0, 0, 0], [1, 0, 0]], \"radius\": "
     "0.5, \"clusters\": {\n"
     " \"members\": [[0, 1]], \"count\": 1}}, \"clustered\": true}]}",
     ":2:13: bodies[0].model.clusters.members: says which clusters there are; leave out \"count\""},
    {"a member that is no particle",
     "{\"pliant\": 1, \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "
     "\"radius\": 0.5,\n"
     " \"clusters\": {\"members\": [[0, 1, 2], [99, 1]]}}}, \"bodies\": [{\"model\": \"m\", "
     "\"clustered\": true}]}",
     ":2:39: models.m.clusters.members[1][0]: there is no particle 99; they are numbered from 0 to "
     "2"},
    {"a member twice",
     "{\"pliant\": 1, \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "
     "\"radius\": 0.5,\n"
     " \"clusters\": {\"members\": [[0, 1, 2], [2, 1, 2]]}}}, \"bodies\": [{\"model\": \"m\", "
     "\"clustered\": true}]}",
     ":2:45: models.m.clusters.members[1][2]: particle 2 is in this cluster already"},
    {"a particle in no cluster",
     "{\"pliant\": 1, \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "
     "\"radius\": 0.5,\n"
     " \"clusters\": {\"members\": [[0, 2], [2]]}}}, \"bodies\": [{\"model\": \"m\", "
     "\"clustered\": true}]}",
     ":2:26: models.m.clusters.members: particle 1 is in no cluster; every particle needs one"},
    {"a weight of next to nothing",
     "{\"pliant\": 1, \"models\": {\"m\": {\"positions\": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "
     "\"radius\": 0.5,\n"
     " \"clusters\": {\"members\": [[0, 1, 2]], \"weights\": [[1, 1e-40, 1]]}}}, \"bodies\": "
     "[{\"model\": \"m\", \"clustered\": true}]}",
     ":2:55: models.m.clusters.weights[0][1]: must be at least 1e-12, not 1e-40"},
    {"more clusters than particles",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"box\",\n"
     " \"clusters\": 4000}, \"clustered\": true}]}",
     ":2:14: bodies[0].model.clusters: count is 4000; it must be from 1 to the 80 particles, or 0 "
     "for a usual number"},
    {"tetrahedral without tetrahedra",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"block\"},\n"
     " \"tetrahedral\": true}]}",
     ":2:17: bodies[0].tetrahedral: needs a model with \"tetrahedra\": true"},
    {"tetrahedra of a box",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"box\",\n"
     " \"tetrahedra\": true}}]}",
     ":2:16: bodies[0].model.tetrahedra: the model has none; say with \"tets\" how many to fill it "
     "with, or use a mesh that has some, or the shape \"block\""},
    {"incompressible tetrahedra",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"block\", \"tetrahedra\": true},\n"
     " \"tetrahedral\": {\"poisson\": 0.5}}]}",
     ":2:29: bodies[0].tetrahedral.poisson: must be at most 0.4999, not 0.5"},
    {"no samples",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"block\", \"tetrahedra\": true},\n"
     " \"tetrahedral\": {\"rotations\": \"folded\", \"sampled\": 0}}]}",
     ":2:52: bodies[0].tetrahedral.sampled: must be greater than 0, not 0"},
    {"samples that are not used",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"block\", \"tetrahedra\": true},\n"
     " \"tetrahedral\": {\"sampled\": 0.2}}]}",
     ":2:17: bodies[0].tetrahedral: \"sampled\" goes with \"rotations\" that are interpolated: "
     "\"quaternion\" or \"folded\""},
    {"folded with a Poisson's ratio",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"block\", \"tetrahedra\": true},\n"
     " \"tetrahedral\": {\"rotations\": \"folded\", \"poisson\": 0.3}}]}",
     ":2:52: bodies[0].tetrahedral.poisson: is 0.3; the folded blend has no volume term: use 0, or "
     "other rotations"},
    {"a weight cap that is not used",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"block\", \"tetrahedra\": true},\n"
     " \"tetrahedral\": {\"weight_cap\": 3}}]}",
     ":2:17: bodies[0].tetrahedral: \"weight_cap\" goes with \"rotations\" that are interpolated: "
     "\"quaternion\" or \"folded\""},
    {"plastic flow with interpolated rotations",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"block\", \"tetrahedra\": true},\n"
     " \"tetrahedral\": {\"rotations\": \"quaternion\", \"yield\": 0.1}}]}",
     ":2:54: bodies[0].tetrahedral.yield: plastic flow needs exact rotations: interpolated ones "
     "know nothing of it"},
    {"flow beyond all measure",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"block\", \"tetrahedra\": true},\n"
     " \"tetrahedral\": {\"yield\": 0.1, \"flow\": 1e10}}]}",
     ":2:40: bodies[0].tetrahedral.flow: is 1e+10; use a rate of 0 to 1e9 per second"},
    {"tetrahedra too stiff for the step",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"block\", \"tetrahedra\": true},\n"
     " \"young\": 1e30, \"tetrahedral\": true}]}",
     ":2:11: bodies[0].young: is too large for the step, or the elements around particle 211 are "
     "too flat: use a smaller step, or a better mesh"},
    {"a tetrahedral body with clusters",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"block\", \"tetrahedra\": true, "
     "\"clusters\": 4},\n"
     " \"tetrahedral\": true}]}",
     ":2:17: bodies[0].tetrahedral: needs a model without \"clusters\": these are for clustered "
     "bodies"},
    {"too few factors of tetrahedra",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"block\", \"tetrahedra\": true, "
     "\"count\": [2, 2, 2]},\n"
     " \"tetrahedral\": true, \"tet_stiffness\": [1, 2]}]}",
     ":2:40: bodies[0].tet_stiffness: must have one factor per tetrahedron, 5, not 2"},
    {"factors of tetrahedra without any",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"},\n"
     " \"tet_stiffness\": 2}]}",
     ":2:19: bodies[0].tet_stiffness: is for bodies with \"tetrahedral\"; others have "
     "\"edge_stiffness\""},
    {"tetrahedral and clustered",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"block\", \"tetrahedra\": true, "
     "\"clusters\": 4}, \"clustered\": true, \"tetrahedral\": true}]}",
     ":1:26: bodies[0]: \"clustered\" does not go with \"tetrahedral\": a body is made of one of "
     "them"},
    {"examples without poses",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"},\n"
     " \"examples\": {}}]}",
     ":2:14: bodies[0].examples: the key \"poses\" is missing"},
    {"no poses",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"},\n"
     " \"examples\": {\"poses\": []}}]}",
     ":2:24: bodies[0].examples.poses: has 0 poses; use 1 to 64"},
    {"a pose of nothing",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"},\n"
     " \"examples\": {\"poses\": [{}]}}]}",
     ":2:25: bodies[0].examples.poses[0]: give one of \"warp\" (twist, bend, S, squash, coil, "
     "fold), \"warps\", \"file\" (a deformed copy of the mesh), \"dump\" (a state of a run) and "
     "\"positions\""},
    {"an unknown warp",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"},\n"
     " \"examples\": {\"poses\": [{\"warp\": \"twirl\"}]}}]}",
     ":2:34: bodies[0].examples.poses[0].warp: must be \"twist\", \"bend\", \"S\", \"squash\", "
     "\"coil\" or \"fold\", not \"twirl\"; did you mean \"twist\"?"},
    {"keys of a warp alone",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"},\n"
     " \"examples\": {\"poses\": [{\"positions\": [[0, 0, 0]], \"shorten\": 0.5}]}}]}",
     ":2:63: bodies[0].examples.poses[0].shorten: goes with \"warp\""},
    {"a coil as long as it is",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"},\n"
     " \"examples\": {\"poses\": [{\"warp\": \"coil\", \"shorten\": 1}]}}]}",
     ":2:53: bodies[0].examples.poses[0].shorten: is 1; a coil is lower than its length (shorten < "
     "1) and has an amount other than 0"},
    {"a pose of one particle",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"},\n"
     " \"examples\": {\"poses\": [{\"positions\": [[0, 0, 0]]}]}}]}",
     ":2:39: bodies[0].examples.poses[0].positions: has 1 particles; the model has 20"},
    {"beta of 1",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"},\n"
     " \"examples\": {\"poses\": [{\"warp\": \"bend\"}], \"beta\": 1}}]}",
     ":2:52: bodies[0].examples.beta: must be at most 0.999999, not 1"},
    {"a scope without groups",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"},\n"
     " \"examples\": {\"poses\": [{\"warp\": \"bend\"}], \"scope\": \"groups\"}}]}",
     ":2:53: bodies[0].examples.scope: the scope \"groups\" and a list \"groups\" go together"},
    {"groups that overlap",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"},\n"
     " \"examples\": {\"poses\": [{\"warp\": \"bend\"}], \"groups\": [[0, 1], [1, 2]]}}]}",
     ":2:63: bodies[0].examples.groups[1]: particle 1 is in an earlier group already; groups must "
     "not overlap"},
    {"a bias too many",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"},\n"
     " \"examples\": {\"poses\": [{\"warp\": \"bend\"}], \"bias\": [1, 2]}}]}",
     ":2:52: bodies[0].examples.bias: has 2 numbers for 1 poses; one each"},
    {"a dump that is not there",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"shape\": \"bar\"},\n"
     " \"examples\": {\"poses\": [{\"dump\": \"nowhere.jsonl\"}]}}]}",
     ":2:34: bodies[0].examples.poses[0].dump: cannot be opened: No such file or directory"},
    {"scale along two axes",
     "{\"pliant\": 1, \"bodies\": [{\"model\": {\"builtin\": \"cuboid\",\n"
     " \"scale\": [1, 2]}}]}",
     ":2:11: bodies[0].model.scale: must be three numbers [x, y, z], not 2 elements"},
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
     "box, creature, knot, coil, block"},
    {"unit unknown",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"materials\": {\"m\": {\"young\": \"20 psi\"}}}",
     ":3:31: materials.m.young: must be a number, or a text of a number and a unit like \"20 kPa\" "
     "(units: Pa, kPa, MPa, GPa), not \"20 psi\""},
    {"unit without a number",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"materials\": {\"m\": {\"young\": \"soft\"}}}",
     ":3:31: materials.m.young: must be a number, or a text of a number and a unit like \"20 kPa\" "
     "(units: Pa, kPa, MPa, GPa), not \"soft\""},
    {"unit of another quantity",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"materials\": {\"m\": {\"density\": \"20 kPa\"}}}",
     ":3:33: materials.m.density: must be a number, or a text of a number and a unit like \"20 "
     "g/cm3\" (units: kg/m3, g/cm3, kg/m³, g/cm³), not \"20 kPa\""},
    {"unit with a value out of range",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"materials\": {\"m\": {\"young\": \"0 kPa\"}}}",
     ":3:31: materials.m.young: must be greater than 0, not 0"},
    {"unit where there is none",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"materials\": {\"m\": {\"damping\": \"2 1/s\"}}}",
     ":3:33: materials.m.damping: must be a number, not a string"},
    {"own young and stiffness",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}, \"young\": 1e5, \"stiffness\": 1e4}]}",
     ":2:13: bodies[0]: give either \"young\" (Young's modulus) or \"stiffness\" (the raw k)"},
    {"own density negative",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}, \"density\": -1}]}",
     ":2:52: bodies[0].density: must be greater than 0, not -1"},
    {"array without pitch or box",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}, \"array\": {\"count\": 3}}]}",
     ":2:50: bodies[0].array: the key \"pitch\" is missing"},
    {"array in a box without spacing",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}, \"array\": {\"count\": 3, \"box\": [[0, 0, "
     "0], [1, 1, 1]]}}]}",
     ":2:50: bodies[0].array: the key \"spacing\" is missing"},
    {"array in a box with pitch",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}, \"array\": {\"count\": 3, \"box\": [[0, 0, "
     "0], [1, 1, 1]], \"spacing\": 0.1, \"pitch\": 1}}]}",
     ":2:119: bodies[0].array.pitch: does not belong to an array in a \"box\""},
    {"array on a lattice with spacing",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}, \"array\": {\"count\": 3, \"pitch\": 1, "
     "\"spacing\": 1}}]}",
     ":2:86: bodies[0].array.spacing: does not belong to an array on a lattice"},
    {"array in a box with three counts",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}, \"array\": {\"count\": [2, 2, 2], \"box\": "
     "[[0, 0, 0], [1, 1, 1]], \"spacing\": 0.1}}]}",
     ":2:60: bodies[0].array.count: must be a whole number, not an array"},
    {"array in a box too full",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"model\": {\"shape\": \"bar\"}, \"array\": {\"count\": 50, \"box\": [[0, 0, "
     "0], [1, 1, 1]], \"spacing\": 1}}]}",
     ":2:50: bodies[0].array: 50 do not fit into this box at random at this spacing; make the box "
     "larger, or \"count\" or \"spacing\" smaller"},
    {"event without a time",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"events\": [{\"gravity\": [0, 0, 0]}]}",
     ":3:13: events[0]: the key \"at\" is missing"},
    {"event before the start",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"events\": [{\"at\": -1, \"gravity\": [0, 0, 0]}]}",
     ":3:20: events[0].at: must be at least 0, not -1"},
    {"event that does nothing",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"events\": [{\"at\": 2}]}",
     ":3:13: events[0]: nothing happens here; give \"drop\", \"release\", \"remove\", "
     "\"velocity\", \"impulse\", \"material\", \"pressure\" or \"gravity\""},
    {"event with an unknown key",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"events\": [{\"at\": 2, \"dropp\": [\"a\"]}]}",
     ":3:23: events[0].dropp: an event has no key \"dropp\"; did you mean \"drop\"?"},
    {"events not a list",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"events\": {\"at\": 2}}",
     ":3:12: events: must be an array, not an object"},
    {"drop of something unknown",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"pins\": [{\"name\": \"hook\", \"particle\": 0}],\n"
     " \"events\": [{\"at\": 2, \"drop\": [\"hok\"]}]}",
     ":4:32: events[0].drop[0]: there is no pin, drive or attachment \"hok\"; did you mean "
     "\"hook\"?"},
    {"drop where nothing has a name",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"pins\": [{\"particle\": 0}],\n"
     " \"events\": [{\"at\": 2, \"drop\": [\"hook\"]}]}",
     ":4:32: events[0].drop[0]: there is no pin, drive or attachment \"hook\"; give it a \"name\" "
     "where it is defined"},
    {"drop of nothing",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"events\": [{\"at\": 2, \"drop\": []}]}",
     ":3:31: events[0].drop: must name at least one"},
    {"drop not a list",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"events\": [{\"at\": 2, \"drop\": \"hook\"}]}",
     ":3:31: events[0].drop: must be an array of names of pins, drives and attachments, not a "
     "string"},
    {"drop of a number",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"events\": [{\"at\": 2, \"drop\": [3]}]}",
     ":3:32: events[0].drop[0]: must be a name, not a number"},
    {"drop named twice",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"pins\": [{\"name\": \"hook\", \"particle\": 0}],\n"
     " \"events\": [{\"at\": 2, \"drop\": [\"hook\", \"hook\"]}]}",
     ":4:40: events[0].drop[1]: is named here for the second time; once is enough"},
    {"release without fixed particles",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"events\": [{\"at\": 2, \"release\": [\"bar\"]}]}",
     ":3:34: events[0].release: \"bar\" has no \"fixed\" particles; pins, drives and attachments "
     "are let go by \"drop\""},
    {"release of an unknown body",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"events\": [{\"at\": 2, \"release\": [\"baar\"]}]}",
     ":3:35: events[0].release[0]: there is no body \"baar\"; did you mean \"bar\"?"},
    {"remove of something unknown",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"events\": [{\"at\": 2, \"remove\": [\"floor\"]}]}",
     ":3:34: events[0].remove[0]: there is no body or collider \"floor\"; give it a \"name\" where "
     "it is defined"},
    {"remove of an array and one of its bodies",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"toy\", \"model\": {\"shape\": \"bar\"}, \"array\": {\"count\": 3, "
     "\"pitch\": 2}}],\n"
     " \"events\": [{\"at\": 2, \"remove\": [\"toy\", \"toy[1]\"]}]}",
     ":3:41: events[0].remove[1]: is named here for the second time; once is enough"},
    {"event about a removed body",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"events\": [{\"at\": 2, \"impulse\": {\"value\": [1, 0, 0]}}, {\"at\": 1, \"remove\": "
     "[\"bar\"]}]}",
     ":3:13: events[0]: the body \"bar\" is not there any more: events[1] removes it"},
    {"velocity without a value",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"events\": [{\"at\": 2, \"velocity\": {\"body\": \"bar\"}}]}",
     ":3:35: events[0].velocity: the key \"value\" is missing"},
    {"velocity of an unknown body",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"events\": [{\"at\": 2, \"velocity\": {\"body\": \"bat\", \"value\": [0, 1, 0]}}]}",
     ":3:44: events[0].velocity.body: there is no body \"bat\"; did you mean \"bar\"?"},
    {"velocity a vector",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"events\": [{\"at\": 2, \"velocity\": [0, 1, 0]}]}",
     ":3:35: events[0].velocity: must be an object, not an array"},
    {"change to an unknown material",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"events\": [{\"at\": 2, \"material\": {\"material\": \"jely\"}}]}",
     ":3:48: events[0].material.material: there is no material \"jely\"; did you mean \"jelly\"? "
     "built in are jelly, slime, flesh, foam, sponge, dough, rubber, tyre, leather, cloth, rope, "
     "cork, plastic, wood, steel"},
    {"pressure in a body without a surface",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"model\": {\"positions\": [[0, 0, 0]], \"radius\": 1}}],\n"
     " \"events\": [{\"at\": 2, \"pressure\": {\"value\": \"1 kPa\"}}]}",
     ":3:35: events[0].pressure: pressure needs a closed shell; this body encloses nothing"},
    {"camera with an unknown key",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"cameras\": [{\"postion\": [0, 1, 5]}]}",
     ":3:15: cameras[0].postion: a camera has no key \"postion\"; did you mean \"position\"?"},
    {"camera that is a word",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"cameras\": [\"front\"]}",
     ":3:14: cameras[0]: must be \"auto\", not \"front\""},
    {"camera named auto",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"cameras\": [{\"name\": \"auto\", \"position\": [0, 1, 5]}]}",
     ":3:23: cameras[0].name: \"auto\" is the automatic camera; choose another name"},
    {"cameras of one name",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"cameras\": [{\"name\": \"a\", \"position\": [0, 1, 5]}, {\"name\": \"a\", \"position\": "
     "[0, 1, 6]}]}",
     ":3:61: cameras[1].name: cameras[0] has this name already; give each camera its own"},
    {"camera with a target but no place",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"cameras\": [{\"target\": [0, 1, 0]}]}",
     ":3:14: cameras[0]: give \"position\" too: without it the framing is automatic, and only a "
     "body can be its \"target\""},
    {"camera target of a wrong kind",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"cameras\": [{\"position\": [0, 1, 5], \"target\": \"bar\"}]}",
     ":3:48: cameras[0].target: must be a point [x, y, z] or {\"body\": NAME}, not a string"},
    {"camera target of an unknown body",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"cameras\": [{\"position\": [0, 1, 5], \"target\": {\"body\": \"baar\"}}]}",
     ":3:57: cameras[0].target.body: there is no body \"baar\"; did you mean \"bar\"?"},
    {"camera opening too wide",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"cameras\": [{\"position\": [0, 1, 5], \"degrees\": 180}]}",
     ":3:49: cameras[0].degrees: must be at most 150, not 180"},
    {"camera keys without positions",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"cameras\": [{\"keys\": [{\"time\": 0, \"rotation\": [0, 0, 0, 1]}]}]}",
     ":3:24: cameras[0].keys[0]: a key of positions has \"time\" and \"position\""},
    {"camera turned about nothing",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"cameras\": [{\"turn\": {\"axis\": [0, 1, 0], \"speed\": 10}}]}",
     ":3:23: cameras[0].turn: turns a place: give \"position\" or \"keys\" too"},
    {"camera relative to nothing",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"cameras\": [{\"relative\": true, \"keys\": [{\"time\": 0, \"position\": [0, 0, 0]}]}]}",
     ":3:27: cameras[0].relative: needs \"position\", which the keys are offsets from"},
    {"camera following and aiming",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"cameras\": [{\"position\": [0, 1, 5], \"target\": {\"body\": \"bar\"}, \"target_keys\": "
     "[{\"time\": 0, \"position\": [0, 0, 0]}]}]}",
     ":3:80: cameras[0].target_keys: and a body as \"target\" exclude each other; keep one of "
     "them"},
    {"light without a direction",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"lights\": [{\"strength\": 2}]}",
     ":3:13: lights[0]: the key \"direction\" is missing"},
    {"light from nowhere",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"lights\": [{\"direction\": [0, 0, 0]}]}",
     ":3:27: lights[0].direction: must not be zero: a direction needs a length"},
    {"light colour out of range",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"lights\": [{\"direction\": [0, 1, 0], \"colour\": [1, 2, 1]}]}",
     ":3:52: lights[0].colour[1]: must be at most 1, not 2"},
    {"light colour by another spelling",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"lights\": [{\"direction\": [0, 1, 0], \"color\": [1, 1, 1]}]}",
     ":3:38: lights[0].color: a light has no key \"color\"; did you mean \"colour\"?"},
    {"too many lights",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"lights\": [{\"direction\": [0, 1, 0]}, {\"direction\": [1, 1, 0]}, {\"direction\": [2, 1, "
     "0]}, {\"direction\": [3, 1, 0]}, {\"direction\": [4, 1, 0]}]}",
     ":3:117: lights[4]: is one light too many: there can be 4"},
    {"output of a wrong kind",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"outputs\": [3]}",
     ":3:14: outputs[0]: must be the name of a file or {\"file\": NAME}, not a number"},
    {"output without a file",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"outputs\": [{\"every\": 2}]}",
     ":3:14: outputs[0]: the key \"file\" is missing"},
    {"output with an empty name",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"outputs\": [\"\"]}",
     ":3:14: outputs[0]: must not be empty"},
    {"output size of one number",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"outputs\": [{\"file\": \"a.png\", \"size\": [100]}]}",
     ":3:40: outputs[0].size: must be two numbers of pixels [width, height], not 1"},
    {"output never",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"outputs\": [{\"file\": \"a.png\", \"every\": 0}]}",
     ":3:41: outputs[0].every: must be at least 1, not 0"},
    {"output by an unknown camera",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"cameras\": [{\"name\": \"left\", \"position\": [0, 1, 5]}],\n"
     " \"outputs\": [{\"file\": \"a.png\", \"camera\": \"lefd\"}]}",
     ":4:42: outputs[0].camera: there is no camera \"lefd\"; did you mean \"left\"?"},
    {"drive without a name to drop",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"drive\": [{\"particle\": 0, \"keys\": [{\"time\": 0, \"position\": [0, 0, 0]}], \"nam\": "
     "\"d\"}]}",
     ":3:74: drive[0].nam: a drive has no key \"nam\"; did you mean \"name\"?"},
    {"a key nobody knows",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"physics\": {}}",
     ":3:2: physics: a scene has no key \"physics\"; known are $schema, pliant, name, about, "
     "include, world, models, materials, bodies, colliders, attachments, pins, drive, forces, "
     "events, cameras, lights, outputs, runs"},
    {"nested too deep",
     "{\"pliant\": 1, \"bodies\": "
     "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
     "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
     "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
     "[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
     "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
     "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
     "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}",
     ":1:280: bodies[0][0][0]: brackets are nested deeper than 256 levels"},
    {"character 0", "{\"pliant\": 1, \"name\": \"a\\u0000b\"}",
     ":1:25: name: a text must not contain the character 0"},
    {"include of a number",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"include\": 3}",
     ":3:13: include: must be the name of a scene file, or an array of them, not a number"},
    {"include of a missing file",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"include\": [\"missing.json\"]}",
     ":3:14: include[0]: missing.json cannot be opened: No such file or directory"},
    {"include of itself",
     "{\"pliant\": 1,\n"
     " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
     " \"include\": [\"scene.json\"]}",
     ":3:14: include[0]: the files include each other in a circle: scene.json -> scene.json"},
};

/* Scenes that include part.json, and what it holds. */
static const struct {
    broken_scene scene;
    const char *part;
} included[] = {
    {{"include in a circle",
      "{\"pliant\": 1,\n"
      " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
      " \"include\": [\"part.json\"]}",
      "part.json:1:26: include: the files include each other in a circle: scene.json -> part.json "
      "-> scene.json"},
     "{\"pliant\": 1, \"include\": \"./scene.json\"}"},
    {{"mistake in an included file",
      "{\"pliant\": 1,\n"
      " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
      " \"include\": [\"part.json\"]}",
      "part.json:2:22: materials.m.youg: a material has no key \"youg\"; did you mean \"young\"?"},
     "{\"pliant\": 1,\n"
     " \"materials\": {\"m\": {\"youg\": 3}}}"},
    {{"included file cut off",
      "{\"pliant\": 1,\n"
      " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
      " \"include\": [\"part.json\"]}",
      "part.json:2:16: materials: the file ends inside an object; a } is missing"},
     "{\"pliant\": 1,\n"
     " \"materials\": {"},
    {{"included file without a version",
      "{\"pliant\": 1,\n"
      " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
      " \"include\": [\"part.json\"]}",
      "part.json:1:1: the key \"pliant\" is missing; write \"pliant\": 1 (the version of the "
      "format)"},
     "{\"materials\": {}}"},
    {{"included file from the future",
      "{\"pliant\": 1,\n"
      " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
      " \"include\": [\"part.json\"]}",
      "part.json:1:12: pliant: must be 1, not 2"},
     "{\"pliant\": 2}"},
    {{"included file that is a list",
      "{\"pliant\": 1,\n"
      " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
      " \"include\": [\"part.json\"]}",
      "part.json:1:1: must be an object, not an array"},
     "[]"},
    {{"body of an included file named again",
      "{\"pliant\": 1,\n"
      " \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}],\n"
      " \"include\": [\"part.json\"]}",
      ":2:22: bodies[1].name: bodies[0] has this name already; give each body its own"},
     "{\"pliant\": 1, \"bodies\": [{\"name\": \"bar\", \"model\": {\"shape\": \"bar\"}}]}"},
    {{"no bodies with an include", "{\"pliant\": 1, \"include\": \"part.json\"}",
      ":1:1: the key \"bodies\" is missing; write \"bodies\": [{\"model\": {\"shape\": \"bar\"}}]"},
     "{\"pliant\": 1}"},
};

/* The same with values from the command line. */
static const struct {
    const char *assignment, *message; /* behind "pliant: " */
} sets[] = {
    {"bodies.baar.young=1",
     "--set bodies.baar.young: nothing in bodies has the name \"baar\"; did you mean \"bar\"?"},
    {"bodies.bar.yung=1",
     "--set bodies.bar.yung: bodies[0].yung: a body has no key \"yung\"; did you mean \"young\"?"},
    {"wrold.step=1",
     "--set wrold.step: wrold: a scene has no key \"wrold\"; did you mean \"world\"?"},
    {"world.step", "--set world.step: needs a path and a value, as in bodies.bar.young=2e4"},
    {"world.step=", "--set world.step: a value is missing behind the =; \"\" is an empty text"},
    {"=1", "--set: needs a path and a value, as in bodies.bar.young=2e4"},
    {"world.gravity=[0, 1", "--set world.gravity: the value is not JSON: at its character 6, it "
                            "ends inside an array; a ] is missing"},
    {"world.step=-1", "--set world.step: world.step: must be greater than 0, not -1"},
    {"world.step=fast", "--set world.step: world.step: must be a number, not a string"},
    {"bodies[3].young=1", "--set bodies[3].young: bodies has no element 3; the last is number 0"},
    {"world[0]=1", "--set world[0]: there is no list world; set it as a whole"},
    {"bodies.bar.material.young=1", "--set bodies.bar.material.young: bodies.bar.material is the "
                                    "text \"jelly\" and has no parts; set it as a whole"},
    {"bodies[0.young=1",
     "--set bodies[0.young: brackets hold the number of an element, from 0, as in bodies[2]"},
    {"bodies..young=1",
     "--set bodies..young: a path is written like bodies.bar.young or bodies[2].position"},
    {"pins[0].strength=1", "--set pins[0].strength: there is no list pins; set it as a whole"},
    {"include=part.json", "--set include: include: must be written in the file itself"},
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

#define RUN                                                                                        \
    PLIANT_COMMAND                                                                                 \
    " run scene.json --frames 2 --no-progress -o out.jsonl -o frame_%%04d.obj%s%s%s "              \
    ">stdout 2>stderr"

/* Whether the command says exactly this, fails with status 2 and leaves nothing. */
static bool says(const char *what, const char *assignment, const char *message, int files)
{
    char command[1024], expected[2048], got[2048], printed[64];
    snprintf(command, sizeof command, RUN, assignment ? " --set '" : "",
             assignment ? assignment : "", assignment ? "'" : "");
    int status = system(command);
    read_file("stderr", got, sizeof got);
    read_file("stdout", printed, sizeof printed);
    snprintf(expected, sizeof expected, "pliant: %s%s\n", message[0] == ':' ? "scene.json" : "",
             message);
    if (strcmp(got, expected) == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 2 &&
        !printed[0] && count_files() == files)
        return true;
    print_error("%s: exit status %d, %d files\n  expected %s  got      %s", what,
                WEXITSTATUS(status), count_files(), expected, got);
    return false;
}

static void every_broken_scene_is_explained(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        write_file("scene.json", scenes[i].text);
        wrong += !says(scenes[i].what, NULL, scenes[i].message, 3);
    }
    assert_int_equal(wrong, 0);
}

static void so_is_every_broken_part(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof included / sizeof *included; i++) {
        write_file("scene.json", included[i].scene.text);
        write_file("part.json", included[i].part);
        wrong += !says(included[i].scene.what, NULL, included[i].scene.message, 4);
    }
    unlink("part.json");
    assert_int_equal(wrong, 0);
}

static void every_wrong_value_is_explained(void **state)
{
    (void)state;
    int wrong = 0;
    write_file("scene.json", "{\"pliant\": 1, \"bodies\": [{\"name\": \"bar\", \"material\": "
                             "\"jelly\", \"model\": {\"shape\": \"bar\"}}]}");
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        wrong += !says(sets[i].assignment, sets[i].assignment, sets[i].message, 3);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_broken_scene_is_explained),
                                       cmocka_unit_test(so_is_every_broken_part),
                                       cmocka_unit_test(every_wrong_value_is_explained)};
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
