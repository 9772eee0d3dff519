// From light to what is seen.
uniform sampler2DShadow shadow_map;
uniform sampler2D open_map;

const float pi = 3.14159265;

// The part of the key light that arrives: 9 comparisons, each of them already over 4 texels, unless the corners agree.
// The numbers of turns depend on the place, so that a processor without branches leaves the loops early.
float lit(vec3 place, vec3 normal)
{
    // Moved away from the surface, the further the lower the light stands, lest flat triangles shade themselves.
    float low = 1.0 - max(dot(normal, light.xyz), 0.0);
    vec3 seen = (shadow * vec4(place + normal * (light.w * (1.5 + 8.0 * low)), 1.0)).xyz;
    bool inside = more.y > 0.5 && all(greaterThan(seen.xy, vec2(0.0))) && all(lessThan(seen.xy, vec2(1.0)));
    bool away = dot(normal, light.xyz) <= 0.0;
    seen.z = min(seen.z, 1.0);
    float texel = 1.0 / float(textureSize(shadow_map, 0).x);
    float corners = 0.0;
    for (int i = inside && !away ? 0 : 4; i < 4; i++) {
        vec2 off = vec2(i & 1, i >> 1) * 5.0 - 2.5;
        corners += texture(shadow_map, seen + vec3(off * texel, 0.0));
    }
    bool agree = corners == 0.0 || corners == 4.0;
    float total = 0.0;
    for (int i = agree ? 9 : 0; i < 9; i++) {
        vec2 off = vec2(i % 3 - 1, i / 3 - 1);
        float weight = 4.0 - 1.5 * dot(off, off);
        total += weight * texture(shadow_map, seen + vec3(off * texel * 1.75, 0.0));
    }
    return away ? 0.0 : !inside ? 1.0 : agree ? corners / 4.0 : total / 18.0;
}

// All lights on level ground.
vec3 on_ground(float arrives)
{
    vec3 sum = key.rgb * (max(light.y, 0.0) * arrives);
    for (int i = 0; i < int(more.x); i++)
        sum += more_key[i].rgb * max(more_light[i].y, 0.0);
    return sum;
}

float open_sky(vec3 place)
{
    vec2 seen = ((below * vec4(place, 1.0)).xy - 0.5) / 1.5 + 0.5;
    bool far = any(lessThan(seen, vec2(0.0))) || any(greaterThan(seen, vec2(1.0)));
    return far ? 1.0 : textureLod(open_map, seen, 0.0).r;
}

// A filmic curve (Narkowicz's fit of ACES), then sRGB. Applied before the samples of a pixel are averaged, so that edges
// against bright things stay smooth.
vec3 developed(vec3 colour)
{
    vec3 c = colour * key.w;
    c = clamp((c * (2.51 * c + 0.03)) / (c * (2.43 * c + 0.59) + 0.14), 0.0, 1.0);
    // 1.055 c^(1/2.4) - 0.055, within half a step of the 8 bits but for black, by roots, which are cheaper than powers.
    vec3 root = sqrt(c);
    vec3 root4 = sqrt(root);
    return max(0.662002687 * root + 0.684122060 * root4 - 0.323583601 * sqrt(root4) - 0.0225411470 * c, 0.0);
}

// What a light from the direction l becomes on the way to the eye: a diffuse part and a GGX highlight (Smith's masking in
// Schlick's form).
vec3 reflected(vec3 n, vec3 v, vec3 l, vec3 diffuse, vec3 f0, float roughness)
{
    vec3 h = normalize(l + v);
    float nl = max(dot(n, l), 0.0);
    float nv = max(dot(n, v), 1e-3);
    float nh = max(dot(n, h), 0.0);
    float alpha = max(roughness * roughness, 0.02);
    float a2 = alpha * alpha;
    float d = nh * nh * (a2 - 1.0) + 1.0;
    float k = alpha * 0.5;
    float masking = 0.25 / ((nl * (1.0 - k) + k) * (nv * (1.0 - k) + k));
    float grazing = 1.0 - max(dot(v, h), 0.0);
    float grazing2 = grazing * grazing;
    vec3 fresnel = f0 + (1.0 - f0) * (grazing2 * grazing2 * grazing);
    return (diffuse + fresnel * (a2 / (d * d) * masking)) * nl;
}

// The key light and up to three more, light from the sky and from the ground by the normal's height, and a pale rim. Near
// the ground there is less light from below.
vec3 shaded(vec3 place, vec3 n, vec3 v, vec3 paint, float roughness, float metal, float arrives)
{
    vec3 f0 = mix(vec3(0.04), paint, metal);
    vec3 diffuse = paint * (1.0 - metal);
    vec3 sum = reflected(n, v, light.xyz, diffuse, f0, roughness) * key.rgb * arrives;
    for (int i = 0; i < int(more.x); i++)
        sum += reflected(n, v, more_light[i].xyz, diffuse, f0, roughness) * more_key[i].rgb;

    float height = clamp((place.y - ground.x) * 1.6, 0.0, 1.0);
    vec3 ambient = mix(bounce.rgb * mix(0.4, 1.0, height), sky.rgb * mix(0.85, 1.0, height), n.y * 0.5 + 0.5);
    float edge = 1.0 - max(dot(n, v), 1e-3);
    float rim = edge * edge * edge * edge * (0.2 + 0.15 * n.y);
    return sum + (diffuse + f0 * 0.5) * ambient + sky.rgb * rim * (0.15 + diffuse);
}
