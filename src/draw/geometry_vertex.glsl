// Everything solid: a mesh (one instance that changes nothing), ellipsoids, cylinders.
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 colour;
layout(location = 3) in vec2 finish;
layout(location = 4) in vec3 centre;
layout(location = 5) in vec3 axis_x;
layout(location = 6) in vec3 axis_y;
layout(location = 7) in vec3 axis_z;
layout(location = 8) in vec4 tint;

out vec3 facing;
out vec4 paint;
out float shine;

void main()
{
    vec3 place = centre + axis_x * position.x + axis_y * position.y + axis_z * position.z;
    // Normals go by the inverse transpose; the axes are at right angles.
    facing = axis_x * (normal.x / max(dot(axis_x, axis_x), 1e-20)) +
             axis_y * (normal.y / max(dot(axis_y, axis_y), 1e-20)) +
             axis_z * (normal.z / max(dot(axis_z, axis_z), 1e-20));
    vec4 painted = colour * tint;
    // Square roots keep dark colours apart in 8 bits. What can be seen through has an opacity instead of a roughness.
    paint = vec4(sqrt(painted.rgb), tile.w > 0.5 ? painted.a : finish.x);
    shine = finish.y;
    gl_Position = clip * vec4(place, 1.0);
}
