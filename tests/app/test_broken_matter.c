/* What bodies are made of, broken: clusters, tetrahedra, examples. See broken_kit.h. */
#include "broken_kit.h"

static const broken_scene scenes[] = {
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
};

static void every_broken_body_is_explained(void **state)
{
    (void)state;
    all_are_explained(scenes, sizeof scenes / sizeof *scenes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_broken_body_is_explained)};
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
