/* The programs the pictures are made with, in GLSL 3.30, and the numbers they share. Everything is
   in the scene's own measure: its middle is the origin, and it reaches 1 in each direction at
   most. */
#ifndef PL_DRAW_SHADERS_H
#define PL_DRAW_SHADERS_H

#include "base/error.h"

/* The uniform block `Scene` (scene.glsl says what is what); matrices are by columns. */
typedef struct pl_scene_numbers {
    float clip[16], unclip[16], shadow[16], below[16];
    float eye[4], light[4], key[4], sky[4], bounce[4];
    float ground[4], grid[4], horizon[4], zenith[4], picture[4], tile[4];
    float more[4], more_light[3][4], more_key[3][4];
} pl_scene_numbers;

/* Where vertex attributes are found, the same in all programs. */
enum {
    PL_ATTRIBUTE_POSITION,
    PL_ATTRIBUTE_NORMAL,
    PL_ATTRIBUTE_COLOUR, /* linear, opacity */
    PL_ATTRIBUTE_FINISH, /* roughness, metal */
    PL_ATTRIBUTE_CENTRE, /* of the instance, and its three axes */
    PL_ATTRIBUTE_AXIS_X,
    PL_ATTRIBUTE_AXIS_Y,
    PL_ATTRIBUTE_AXIS_Z,
    PL_ATTRIBUTE_TINT /* of the instance */
};

/* Texture units. */
enum {
    PL_UNIT_SHADOW, /* depth seen by the light */
    PL_UNIT_BELOW,  /* and from under the ground */
    PL_UNIT_OPEN,   /* how much of the sky the ground sees */
    PL_UNIT_PAINT,  /* samples: colour and roughness, normal and metalness, depth */
    PL_UNIT_FACING,
    PL_UNIT_DEPTH,
    PL_UNIT_COUNT
};

typedef struct pl_shaders {
    unsigned geometry, depth, open, develop; /* programs */
} pl_shaders;

/* In the current context. */
pl_status pl_shaders_create(pl_shaders *shaders, pl_error *error);
void pl_shaders_destroy(pl_shaders *shaders);

#endif
