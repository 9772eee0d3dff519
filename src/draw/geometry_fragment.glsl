// Only what light will need, so that small triangles cost little; all shading is done once per pixel afterwards.
in vec3 facing;
in vec4 paint;
in float shine;
layout(location = 0) out vec4 paint_out;
layout(location = 1) out vec4 facing_out;

void main()
{
    vec3 n = normalize(facing);
    paint_out = paint;
    facing_out = vec4((gl_FrontFacing ? n : -n) * 0.5 + 0.5, shine);
}
