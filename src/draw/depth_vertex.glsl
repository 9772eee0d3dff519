// The same things seen by the key light, or from under the ground.
uniform bool from_below;
layout(location = 0) in vec3 position;
layout(location = 4) in vec3 centre;
layout(location = 5) in vec3 axis_x;
layout(location = 6) in vec3 axis_y;
layout(location = 7) in vec3 axis_z;

void main()
{
    vec3 place = centre + axis_x * position.x + axis_y * position.y + axis_z * position.z;
    vec4 seen = (from_below ? below : shadow) * vec4(place, 1.0);
    gl_Position = vec4(seen.xyz * 2.0 - 1.0, 1.0);
}
