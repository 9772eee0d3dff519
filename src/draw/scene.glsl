#version 330 core
// What all programs share: pl_scene_numbers in shaders.h, by the rules of std140.
layout(std140) uniform Scene
{
    mat4 clip;    // scene to the tile being drawn, and back
    mat4 unclip;
    mat4 shadow;  // scene to the key light's depth map, 0 to 1
    mat4 below;   // scene to the depth map seen from under the ground, 0 to 1
    vec4 eye;
    vec4 light;   // towards the key light; w: edge of a texel of its map
    vec4 key;     // its colour; w: exposure
    vec4 sky;     // light from above
    vec4 bounce;  // and from below
    vec4 ground;  // height; depth of the map from below; where the fading begins and ends
    vec4 grid;    // x and z of a crossing; distance of fine and of coarse lines
    vec4 horizon; // the background, sRGB
    vec4 zenith;
    vec4 picture; // first column and row of the tile; height of the whole picture; side of the square of samples in a pixel
    vec4 tile;    // 2 / width and height of the tile; 1 where there is a ground; 1 where glass is developed
    vec4 more;    // how many lights there are beside the key light; 1 where that one throws shadows
    vec4 more_light[3];
    vec4 more_key[3];
};
