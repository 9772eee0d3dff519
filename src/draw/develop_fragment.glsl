// A pixel of the picture from its samples. Where they agree it is shaded once, else once per sample. What is not covered
// is a pale floor with a faint grid that fades into the background.
uniform sampler2D paint_map;
uniform sampler2D facing_map;
uniform sampler2D depth_map;
layout(location = 0) out vec4 pixel;

// Less than half a step of the 8 bits, so that gradients show no bands.
float dither()
{
    vec2 p = gl_FragCoord.xy + picture.xy;
    return (fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))) - 0.5) / 255.0;
}

vec3 background()
{
    float height = (gl_FragCoord.y + picture.y) / picture.z;
    return mix(horizon.rgb, zenith.rgb, smoothstep(0.35, 1.05, height));
}

float lines(vec2 at, float spacing, float width)
{
    vec2 q = (at - grid.xy) / spacing;
    vec2 blur = fwidth(q);
    vec2 away = abs(fract(q - 0.5) - 0.5);
    vec2 line = 1.0 - smoothstep(blur * (width - 0.5), blur * (width + 0.5), away);
    // Where lines come nearer than a few pixels they fade instead of shimmering.
    line *= 1.0 - smoothstep(0.06, 0.3, blur);
    return max(line.x, line.y);
}

vec3 unclipped(vec2 screen, float depth)
{
    vec4 p = unclip * vec4(screen, depth * 2.0 - 1.0, 1.0);
    return p.xyz / p.w;
}

void main()
{
    ivec2 at = ivec2(gl_FragCoord.xy) * int(picture.w);
    vec2 screen = gl_FragCoord.xy * tile.xy - 1.0;
    int side = int(picture.w);
    int samples = side * side;
    bool glass = tile.w > 0.5;

    // The floor here.
    vec3 v = normalize(eye.xyz - unclipped(screen, 0.5));
    float away = (eye.y - ground.x) / (abs(v.y) > 1e-6 ? v.y : 1e-6);
    bool on_floor = tile.z > 0.5 && v.y > 1e-6 && away > 0.0;
    vec3 floor_place = eye.xyz - v * (on_floor ? away : 0.0);
    float fade = on_floor ? smoothstep(ground.z, ground.w * 0.95, length(floor_place.xz)) : 1.0;
    vec3 floor_paint = vec3(1.13, 1.105, 1.06) * (1.0 - 0.12 * lines(floor_place.xz, grid.w, 1.0) -
                                                  0.05 * lines(floor_place.xz, grid.z, 0.75));

    // Do the samples agree?
    vec4 paint = texelFetch(paint_map, at, 0);
    vec4 facing = texelFetch(facing_map, at, 0);
    float depth = texelFetch(depth_map, at, 0).r;
    float least = depth;
    float most = depth;
    vec4 off = abs(texelFetch(paint_map, at + side - 1, 0) - paint);
    bool agree = off.x + off.y + off.z + off.w < 0.06;
    vec4 facing_sum = facing;
    for (int i = 1; i < samples; i++) {
        ivec2 there = at + ivec2(i % side, i / side);
        float other_depth = texelFetch(depth_map, there, 0).r;
        vec4 other = texelFetch(facing_map, there, 0);
        vec3 turn = other.xyz - facing.xyz;
        least = min(least, other_depth);
        most = max(most, other_depth);
        agree = agree && dot(turn, turn) < 0.02;
        facing_sum += other;
    }
    agree = most == 1.0 ? least == 1.0 : agree && most - least < 0.002;
    facing = agree ? facing_sum / float(samples) : facing;

    vec4 sum = vec4(0.0);
    int turns = agree ? 1 : samples;
    for (int i = 0; i < turns; i++) {
        ivec2 there = at + ivec2(i % side, i / side);
        vec4 own_paint = agree ? paint : texelFetch(paint_map, there, 0);
        vec4 own_facing = agree ? facing : texelFetch(facing_map, there, 0);
        float own_depth = agree ? depth : texelFetch(depth_map, there, 0).r;
        vec3 place = unclipped((vec2(there) + 0.5) * (tile.xy / picture.w) - 1.0, own_depth);
        bool covered = glass ? own_paint.a > 0.0 : own_depth < 1.0;
        // The floor hides what is under it, except for what only just dips into it.
        if (on_floor && away < distance(place, eye.xyz) - 0.003)
            covered = false;
        place = covered ? place : floor_place;
        vec3 n = covered ? normalize(own_facing.xyz * 2.0 - 1.0) : vec3(0.0, 1.0, 0.0);
        float arrives = lit(place, n);
        vec3 own = own_paint.rgb * own_paint.rgb;
        vec3 solid = developed(covered ? shaded(place, n, v, own, glass ? 0.35 : own_paint.a, own_facing.w, arrives)
                                       : floor_paint * (on_ground(arrives) + sky.rgb * open_sky(place)));
        float edge = 1.0 - abs(dot(n, v));
        float opacity = glass ? (covered ? min(1.0, own_paint.a + 0.55 * edge * edge) : 0.0) : 1.0;
        sum += vec4(covered ? solid : mix(solid, background(), fade), 1.0) * opacity;
    }
    pixel = sum / float(turns) + vec4(vec3(glass ? 0.0 : dither()), 0.0);
}
