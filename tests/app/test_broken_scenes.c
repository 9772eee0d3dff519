/* Broken documents, worlds, models, bodies, pins and forces; included files; values of --set. See
   broken_kit.h. */
#include "broken_kit.h"

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
static void every_broken_scene_is_explained(void **state)
{
    (void)state;
    all_are_explained(scenes, sizeof scenes / sizeof *scenes);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_broken_scene_is_explained),
                                       cmocka_unit_test(so_is_every_broken_part),
                                       cmocka_unit_test(every_wrong_value_is_explained)};
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
