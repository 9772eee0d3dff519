/* Events, cameras, lights and outputs, broken. See broken_kit.h. */
#include "broken_kit.h"

static const broken_scene scenes[] = {
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
};

static void every_broken_event_and_view_is_explained(void **state)
{
    (void)state;
    all_are_explained(scenes, sizeof scenes / sizeof *scenes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_broken_event_and_view_is_explained)};
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
