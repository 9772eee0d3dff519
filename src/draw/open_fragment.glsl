// How much of the sky the ground sees, as a map: what stands close over it hides a part. The gap to the lowest surface
// above is looked at over a spiral of places around; a ring of radius r and width dr at height g hides
// 2 r dr g² / (g² + r²)²  of the light weighted by its cosine. What touches the ground is taken for a little higher, which
// blurs it.
uniform sampler2D below_map;
layout(location = 0) out vec4 pixel;

void main()
{
    const float reach = 0.55;
    const int places = 48;
    // The map of openness shows 1.5 times as much to each side.
    vec2 seen = (gl_FragCoord.xy / 128.0 - 0.5) * 1.5 + 0.5;
    float hidden = 0.0;
    for (int i = 0; i < places; i++) {
        float r = (float(i) + 0.5) * (reach / float(places));
        float turn = float(i) * 2.3999632;
        float gap = textureLod(below_map, seen + vec2(cos(turn), sin(turn)) * (r * below[0][0]), 0.0).r;
        gap = gap < 0.999 ? gap * ground.y + 0.035 : 1e3;
        float d = gap * gap + r * r;
        hidden += 2.0 * r * (reach / float(places)) * gap * gap / (d * d);
    }
    pixel = vec4(1.0 - 0.85 * min(hidden, 1.0));
}
