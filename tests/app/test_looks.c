/* What is in the pictures of the command, by properties and not by bytes: where the body is and how
   large, its colours, what each overlay, camera and light changes. Skipped where there is no
   OpenGL. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef PLIANT_HAVE_DRAW
#include "draw/png.h"
#endif

enum { WIDTH = 240, HEIGHT = 160, SKIPPED = 77 };

#ifdef PLIANT_HAVE_DRAW

typedef struct picture {
    uint8_t *rgba;
} picture;

static pl_memory memory;
static char folder[] = "/tmp/pliant-looks-XXXXXX";

/* A bar that hangs from its left end over a floor: long along x. */
static const char *const hanging =
    "{\"pliant\": 1, \"world\": {\"step\": 0.01, \"substeps\": 4},"
    " \"models\": {\"bar\": {\"shape\": \"box\", \"count\": [8, 2, 2], \"size\": [1.6, 0.3, 0.3]}},"
    " \"bodies\": [{\"name\": \"bar\", \"model\": \"bar\", \"position\": [0, 1.2, 0],"
    " \"material\": {\"young\": 20000, \"density\": 1000, \"damping\": 1},"
    " \"fixed\": [{\"box\": [[-1, -1, -1], [-0.6, 1, 1]]}]}],"
    " \"colliders\": [{\"shape\": \"plane\"}]%s}";

static void write_text(const char *name, const char *format, const char *more)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, format, more);
    assert_int_equal(fclose(file), 0);
}

static void write_scene(const char *name, const char *more)
{
    write_text(name, hanging, more);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    enum { MOST = 1 << 20 };
    uint8_t *bytes = malloc(MOST);
    *size = fread(bytes, 1, MOST, file);
    fclose(file);
    return bytes;
}

/* Plays some frames and reads the picture of the last. */
static picture take(const char *scene, int frames, const char *options)
{
    char line[600], path[128];
    snprintf(path, sizeof path, "%s/a.png", folder);
    snprintf(line, sizeof line, "%s run %s/%s.json -q --frames %d --size %dx%d %s -o %s",
             PLIANT_COMMAND, folder, scene, frames, WIDTH, HEIGHT, options, path);
    assert_int_equal(system(line), 0);
    size_t size = 0;
    uint8_t *bytes = read_file(path, &size);
    assert_non_null(bytes);
    picture made;
    int width, height;
    assert_int_equal(pl_png_decode(&memory, bytes, size, &width, &height, &made.rgba, NULL), PL_OK);
    assert_true(width == WIDTH && height == HEIGHT);
    free(bytes);
    return made;
}

static void drop(picture *p)
{
    pl_memory_free(&memory, p->rgba);
}

static const uint8_t *pixel(const picture *p, int x, int y)
{
    return p->rgba + 4 * (y * WIDTH + x);
}

/* The floor and the background are pale and grey; bodies are not. */
static bool is_colourful(const uint8_t *c)
{
    int most = c[0] > c[1] ? c[0] : c[1], least = c[0] < c[1] ? c[0] : c[1];
    most = c[2] > most ? c[2] : most, least = c[2] < least ? c[2] : least;
    return most - least > 40;
}

typedef struct outline {
    int left, right, top, bottom, count;
    double mean[3]; /* colour */
} outline;

static outline find_outline(const picture *p, int until)
{
    outline o = {WIDTH, -1, HEIGHT, -1, 0, {0, 0, 0}};
    for (int y = 0; y < until; y++)
        for (int x = 0; x < WIDTH; x++) {
            const uint8_t *c = pixel(p, x, y);
            if (!is_colourful(c))
                continue;
            o.left = x < o.left ? x : o.left, o.right = x > o.right ? x : o.right;
            o.top = y < o.top ? y : o.top, o.bottom = y > o.bottom ? y : o.bottom;
            o.count++;
            for (int k = 0; k < 3; k++)
                o.mean[k] += c[k];
        }
    for (int k = 0; k < 3 && o.count; k++)
        o.mean[k] /= o.count;
    return o;
}

/* Parts of the picture where two differ clearly. */
static double difference(const picture *a, const picture *b)
{
    int count = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        int most = 0;
        for (int k = 0; k < 3; k++)
            most = abs(a->rgba[4 * i + k] - b->rgba[4 * i + k]) > most
                       ? abs(a->rgba[4 * i + k] - b->rgba[4 * i + k])
                       : most;
        count += most > 16;
    }
    return (double)count / (WIDTH * HEIGHT);
}

/* ---- The automatic camera -------------------------------------------------------------------- */

static void bodies_are_in_the_picture(void **state)
{
    (void)state;
    static const char *const views[] = {"corner", "front", "back", "left", "right", "top"};
    for (int i = 0; i < 6; i++) {
        char options[64];
        snprintf(options, sizeof options, "--view %s", views[i]);
        picture p = take("plain", 0, options);
        outline o = find_outline(&p, HEIGHT);
        assert_true(o.left > 2 && o.right < WIDTH - 3 && o.top > 2 && o.bottom < HEIGHT - 3);
        assert_true(o.count > 150 && o.count < WIDTH * HEIGHT / 2);
        /* The palette's first colour, coral, is red. */
        assert_true(o.mean[0] > o.mean[1] + 40 && o.mean[0] > o.mean[2] + 40);
        int across = o.right - o.left, high = o.bottom - o.top;
        bool end_on = i == 3 || i == 4;
        assert_true(end_on ? across < 2 * high : across > 2 * high);
        drop(&p);
    }
}

/* ---- Overlays -------------------------------------------------------------------------------- */

static void stress_is_colour(void **state)
{
    (void)state;
    picture at_rest = take("plain", 0, "--show stress --stress-scale 2000");
    picture bent = take("plain", 40, "--show stress --stress-scale 2000");
    picture gentle = take("plain", 40, "--show stress --stress-scale 2e6");
    picture automatic = take("plain", 40, "--show stress");
    int until = HEIGHT * 3 / 4; /* without the bar */
    outline a = find_outline(&at_rest, until), b = find_outline(&bent, until),
            c = find_outline(&gentle, until), d = find_outline(&automatic, until);
    /* At rest all is violet: more blue than green. Bent it is green and yellow; with a large scale
       violet again. */
    assert_true(a.count > 100 && a.mean[2] > a.mean[1] + 20);
    assert_true(b.count > 100 && b.mean[1] > a.mean[1] + 40);
    assert_true(c.mean[2] > c.mean[1] + 20);
    /* The automatic scale uses many of the colours: there is violet, and there is green. */
    int violet = 0, green = 0;
    for (int y = 0; y < until; y++)
        for (int x = 0; x < WIDTH; x++) {
            const uint8_t *p = pixel(&automatic, x, y);
            violet += p[2] > p[1] + 25;
            green += p[1] > p[2] + 15 && p[1] > p[0] + 15;
        }
    assert_true(d.count > 100 && violet > 20 && green > 20);
    /* The bar is in the lower left corner: violet to yellow. */
    int dark = 0, bright = 0;
    for (int y = until; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH / 2; x++) {
            const uint8_t *p = pixel(&bent, x, y);
            dark += p[0] < 80 && p[1] < 40 && p[2] > 70;
            bright += p[0] > 200 && p[1] > 190 && p[2] < 100;
        }
    assert_true(dark > 3 && bright > 3);
    drop(&at_rest), drop(&bent), drop(&gentle), drop(&automatic);
}

static void overlays_show_what_is_inside(void **state)
{
    (void)state;
    static const char *const shows[] = {"particles", "graph", "surface,graph", "particles,stress",
                                        "graph,particles"};
    picture surface = take("plain", 10, "");
    for (size_t i = 0; i < sizeof shows / sizeof *shows; i++) {
        char options[64];
        snprintf(options, sizeof options, "--show %s", shows[i]);
        picture p = take("plain", 10, options);
        double off = difference(&surface, &p);
        assert_true(off > 0.01 && off < 0.6);
        drop(&p);
    }
    /* Without tetrahedra there is the surface to see. */
    picture tets = take("plain", 10, "--show tets");
    assert_true(difference(&surface, &tets) < 0.001);
    drop(&surface), drop(&tets);
}

/* The particles in the colours of their clusters, where they are now; a body that has none shows
   its surface. */
static void clusters_have_colours(void **state)
{
    (void)state;
    const char *camera = "--camera 0,1.5,4,0,0.6,0";
    char options[2][96];
    snprintf(options[0], sizeof *options, "%s --show clusters", camera);
    snprintf(options[1], sizeof *options, "%s --show particles", camera);
    picture clusters = take("clustered", 30, options[0]);
    picture particles = take("clustered", 30, options[1]);
    outline a = find_outline(&clusters, HEIGHT), b = find_outline(&particles, HEIGHT);
    assert_true(b.count > 300 && abs(a.top - b.top) < 4 && abs(a.bottom - b.bottom) < 4);
    int red = 0, green = 0, blue = 0; /* particles alone have one colour, coral */
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const uint8_t *c = clusters.rgba + 4 * i;
        red += is_colourful(c) && c[0] > c[1] + 30 && c[0] > c[2] + 30;
        green += is_colourful(c) && c[1] > c[0] + 15 && c[1] > c[2];
        blue += is_colourful(c) && c[2] > c[0] + 15 && c[2] > c[1] + 15;
    }
    assert_true(red > 20 && green > 20 && blue > 20);
    drop(&clusters), drop(&particles);

    picture surface = take("plain", 10, ""), without = take("plain", 10, "--show clusters");
    assert_true(difference(&surface, &without) < 0.001);
    drop(&surface), drop(&without);
}

static void contacts_are_marked(void **state)
{
    (void)state;
    /* Dropped, it lies on the floor after a second; before that nothing touches. */
    picture none = take("lying", 0, "--show contacts --camera 0,1.5,4,0,0.6,0");
    picture some = take("lying", 100, "--show contacts --camera 0,1.5,4,0,0.6,0");
    int orange_before = 0, orange_after = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const uint8_t *a = none.rgba + 4 * i, *b = some.rgba + 4 * i;
        bool right = i % WIDTH > WIDTH / 2; /* where the body is teal */
        orange_before += right && a[0] > a[2] + 30;
        orange_after += right && b[0] > b[2] + 30;
    }
    assert_int_equal(orange_before, 0);
    assert_true(orange_after > 2);
    drop(&none), drop(&some);
}

/* ---- Cameras and lights of the scene --------------------------------------------------------- */

static void cameras_turn_the_picture(void **state)
{
    (void)state;
    write_scene(
        "seen",
        ", \"cameras\": [{\"name\": \"side\", \"position\": [5, 1.2, 0], \"target\": [0, 1.2, 0]},"
        " {\"name\": \"ahead\", \"position\": [0, 1.2, 5], \"target\": [0, 1.2, 0]},"
        " {\"name\": \"near\", \"degrees\": 20, \"position\": [0, 1.2, 5], \"target\": [0, 1.2, "
        "0]},"
        " {\"name\": \"ride\", \"target\": {\"body\": \"bar\"}},"
        " {\"name\": \"pan\", \"keys\": [{\"time\": 0, \"position\": [0, 1.2, 5]},"
        " {\"time\": 0.2, \"position\": [5, 1.2, 0]}], \"target\": [0, 1.2, 0]}, \"auto\"]");
    picture first = take("seen", 0, ""), side = take("seen", 0, "--camera side");
    picture ahead = take("seen", 0, "--camera ahead"), near = take("seen", 0, "--camera near");
    picture automatic = take("seen", 0, "--camera auto"), plain = take("plain", 0, "");
    picture ride = take("seen", 0, "--camera ride");
    picture pan_before = take("seen", 0, "--camera pan"),
            pan_after = take("seen", 20, "--camera pan");
    outline s = find_outline(&side, HEIGHT), a = find_outline(&ahead, HEIGHT),
            n = find_outline(&near, HEIGHT), r = find_outline(&ride, HEIGHT);
    assert_true(difference(&first, &side) < 1e-9);
    assert_true(difference(&automatic, &plain) < 1e-9);
    /* End on it is as wide as high, from the side five times as wide. */
    assert_true(s.right - s.left < 2 * (s.bottom - s.top));
    assert_true(a.right - a.left > 3 * (a.bottom - a.top));
    /* 20 degrees instead of 34: larger by the ratio of the tangents. */
    double ratio = (double)(n.right - n.left) / (a.right - a.left);
    assert_true(fabs(ratio - tan(0.3) / tan(10 * 0.017453292519943295)) < 0.12);
    assert_true(r.left > 0 && r.right < WIDTH - 1 && r.count > 300);
    /* At the beginning of its way it sees what the second camera sees, at the end what the first
       one does. */
    assert_true(difference(&pan_before, &ahead) < 1e-9);
    outline moved = find_outline(&pan_after, HEIGHT);
    assert_true(moved.right - moved.left < 2 * (moved.bottom - moved.top));
    drop(&first), drop(&side), drop(&ahead), drop(&near), drop(&automatic), drop(&plain);
    drop(&ride), drop(&pan_before), drop(&pan_after);
}

static void lights_colour_the_picture(void **state)
{
    (void)state;
    write_scene("blue", ", \"lights\": [{\"direction\": [0, 1, 0.5], \"colour\": [0.1, 0.2, 1]}]");
    write_scene("dim", ", \"lights\": [{\"direction\": [0, 1, 0.5], \"strength\": 0.2}]");
    write_scene("two", ", \"lights\": [{\"direction\": [0, 1, 0.5], \"strength\": 0.2},"
                       " {\"direction\": [0, 1, 0.5], \"strength\": 0.8}]");
    picture blue = take("blue", 0, ""), dim = take("dim", 0, ""), two = take("two", 0, "");
    const uint8_t *floor_blue = pixel(&blue, 20, HEIGHT - 10);
    const uint8_t *floor_dim = pixel(&dim, 20, HEIGHT - 10);
    const uint8_t *floor_two = pixel(&two, 20, HEIGHT - 10);
    assert_true(floor_blue[2] > floor_blue[0] + 15);
    assert_true(floor_two[1] > floor_dim[1] + 15);
    drop(&blue), drop(&dim), drop(&two);
}

static int leave(void **state)
{
    (void)state;
    char line[96];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return memory.used != 0 || system(line);
}

static int enter(void **state)
{
    (void)state;
    write_scene("plain", "");
    /* The first stays where it is; the second, of another colour, falls. */
    write_text("lying",
               "{\"pliant\": 1, \"world\": {\"step\": 0.01}, \"models\": {\"block\":"
               " {\"shape\": \"box\", \"count\": 3, \"size\": 0.5}}, \"bodies\":"
               " [{\"model\": \"block\", \"position\": [-1, 0.9, 0], \"gravity_scale\": 0},"
               " {\"model\": \"block\", \"position\": [0.8, 0.9, 0]}],"
               " \"colliders\": [{\"shape\": \"plane\"}]%s}",
               "");
    write_text("clustered",
               "{\"pliant\": 1, \"world\": {\"step\": 0.01}, \"bodies\": [{\"model\":"
               " {\"shape\": \"box\", \"count\": [12, 6, 4], \"size\": [1.2, 0.6, 0.4],"
               " \"clusters\": 20}, \"position\": [0, 1.2, 0], \"clustered\": true}]%s}",
               "");
    return 0;
}

/* Whether there is OpenGL at all: the message says so, and the exit status is 1. */
static bool has_pictures(void)
{
    char line[400], said[400] = "";
    snprintf(line, sizeof line, "%s run rope -q --frames 0 --size 8x8 -o %s/a.png 2>&1",
             PLIANT_COMMAND, folder);
    FILE *pipe = popen(line, "r");
    size_t length = pipe ? fread(said, 1, sizeof said - 1, pipe) : 0;
    int status = pipe ? pclose(pipe) : -1;
    said[length] = 0;
    if (status != 0)
        printf("skipped: %s\n", said);
    return status == 0 || !strstr(said, "pictures need");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_in_the_picture),    cmocka_unit_test(stress_is_colour),
        cmocka_unit_test(overlays_show_what_is_inside), cmocka_unit_test(contacts_are_marked),
        cmocka_unit_test(clusters_have_colours),        cmocka_unit_test(cameras_turn_the_picture),
        cmocka_unit_test(lights_colour_the_picture),
    };
    pl_memory_init(&memory, NULL, 0);
    /* What drivers keep until the program ends is not ours. */
    setenv("ASAN_OPTIONS", "detect_leaks=0", 0);
    if (!mkdtemp(folder))
        return 1;
    if (!has_pictures()) {
        rmdir(folder);
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, enter, leave);
}

#else

int main(void)
{
    puts("skipped: built without pictures");
    return SKIPPED;
}

#endif
