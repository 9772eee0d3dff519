#include "io/mesh_mtl.h"

#include <string.h>

#include "io/mesh_text.h"

/* Takes as many numbers as there are wanted, or none. */
static bool read_values(pl_text *text, int count, float *values)
{
    double read[3];
    for (int i = 0; i < count; i++)
        if (pl_word_double(pl_text_word_in_line(text), &read[i]) != PL_NUMBER_GOOD)
            return false;
    for (int i = 0; i < count; i++)
        values[i] = (float)(read[i] > 0 ? read[i] < 1 ? read[i] : 1 : 0);
    return true;
}

/* A single value stands for all three. */
static void read_colour(pl_text *text, float colour[3])
{
    pl_text again = *text;
    float grey;
    if (!read_values(text, 3, colour) && read_values(&again, 1, &grey) &&
        !pl_text_word_in_line(&again).length)
        colour[0] = colour[1] = colour[2] = grey;
}

static void read_opacity(pl_text *text, bool transparency, pl_look_material *material)
{
    float value;
    if (!read_values(text, 1, &value))
        return;
    material->colour[3] = transparency ? 1 - value : value;
    material->alpha = material->colour[3] < 1 ? 2 : 0;
}

/* The options in front of a texture's name: -s, -o and -t have up to three numbers, -mm two, the
   others one word. */
static pl_word texture_name(pl_text *text)
{
    while (pl_text_peek(text).length > 1 && pl_text_peek(text).text[0] == '-') {
        pl_word option = pl_text_word_in_line(text);
        int most = pl_word_is(option, "-s") || pl_word_is(option, "-o") || pl_word_is(option, "-t")
                       ? 3
                   : pl_word_is(option, "-mm") ? 2
                                               : 1;
        double number;
        for (int i = 0; i < most; i++) {
            if (most > 1 && pl_word_double(pl_text_peek(text), &number) != PL_NUMBER_GOOD)
                break;
            pl_text_word_in_line(text);
        }
    }
    return pl_text_rest(text);
}

/* Materials often share images: the latest ones are looked through. */
static int32_t find_image(const pl_mesh_build *build, pl_word name)
{
    const pl_mesh_build_image *images = build->images.data;
    size_t count = build->images.count;
    for (size_t i = count; i > 0 && count - i < 64; i--) {
        pl_mesh_text text = images[i - 1].name;
        if (text.length == name.length &&
            memcmp((const char *)build->texts.data + text.start, name.text, name.length) == 0)
            return (int32_t)i - 1;
    }
    return -1;
}

static const char *mime_of(pl_word name)
{
    static const char *const known[][2] = {{".png", "image/png"},
                                           {".jpg", "image/jpeg"},
                                           {".jpeg", "image/jpeg"},
                                           {".webp", "image/webp"},
                                           {".ktx2", "image/ktx2"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i][0]);
        pl_word end = {name.text + name.length - length, length};
        if (name.length >= length && pl_word_is_like(end, known[i][0]))
            return known[i][1];
    }
    return "";
}

static bool read_texture(pl_mesh_build *build, pl_text *text, int32_t material,
                         pl_texture_kind kind)
{
    pl_word name = texture_name(text);
    if (!name.length)
        return true;
    int32_t image = find_image(build, name);
    if (image < 0)
        image = pl_mesh_build_image_add(build, name.text, name.length, mime_of(name), NULL, 0);
    if (image >= 0)
        pl_mesh_build_material_at(build, material)->textures[kind] = image;
    return image >= 0;
}

static bool read_statement(pl_mesh_build *build, pl_text *text, pl_word word, int32_t *current)
{
    if (pl_word_is(word, "newmtl")) {
        pl_word name = pl_text_rest(text);
        *current = pl_mesh_build_material(build, name.text, name.length);
        return *current >= 0;
    }
    if (*current < 0)
        return true;
    pl_look_material *material = pl_mesh_build_material_at(build, *current);
    if (pl_word_is(word, "Kd"))
        read_colour(text, material->colour);
    else if (pl_word_is(word, "Ke"))
        read_colour(text, material->emission);
    else if (pl_word_is(word, "d"))
        read_opacity(text, false, material);
    else if (pl_word_is(word, "Tr"))
        read_opacity(text, true, material);
    else if (pl_word_is(word, "Pm"))
        read_values(text, 1, &material->metal);
    else if (pl_word_is(word, "Pr"))
        read_values(text, 1, &material->roughness);
    else if (pl_word_is_like(word, "map_Kd"))
        return read_texture(build, text, *current, PL_TEXTURE_COLOUR);
    else if (pl_word_is_like(word, "map_Ke"))
        return read_texture(build, text, *current, PL_TEXTURE_EMISSION);
    else if (pl_word_is_like(word, "norm"))
        return read_texture(build, text, *current, PL_TEXTURE_NORMAL);
    return true;
}

bool pl_mtl_read(pl_mesh_build *build, const pl_mesh_source *library)
{
    pl_text text = pl_text_make(library->name, library->bytes, library->size);
    text.comment = '#';
    text.continued = text.by_line = true;
    int32_t current = -1;
    do
        if (!read_statement(build, &text, pl_text_word_in_line(&text), &current))
            return false;
    while (pl_text_next_line(&text));
    return true;
}
