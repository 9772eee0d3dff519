/* What must hold of a .glb whatever happens while it is written: looks and images, limits, memory
   that fails, a full disk, runs that were killed and go on. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "glb_cases.h"
#include "io/output_glb_parts.h"

/* ---- The writer alone ------------------------------------------------------------------------ */

static const float triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
static const int32_t corners[3] = {0, 1, 2}, carried[3] = {0, 0, 0};
static const float whole[3] = {1, 1, 1};

static pl_glb *open_writer(pl_memory *memory, const char *name)
{
    pl_glb *glb;
    pl_trouble trouble;
    pl_memory_init(memory, NULL, 0);
    need(pl_glb_open(memory, &(pl_glb_def){.path = path_of(name)}, &glb, &trouble), &trouble);
    return glb;
}

static void nothing_at_all_is_a_file(void **state)
{
    (void)state;
    pl_memory memory;
    pl_trouble trouble;
    file f;
    need(pl_glb_publish(open_writer(&memory, "empty.glb"), &trouble), &trouble);
    open_file(&f, "empty.glb");
    assert_int_equal(at(&f, 0, "nodes"), 0);
    assert_int_equal(at(&f, 0, "buffers"), 0);
    assert_true(at(&f, 0, "scenes") > 0);
    close_file(&f);
    assert_int_equal(memory.used, 0);
}

static void looks_are_kept(void **state)
{
    (void)state;
    static const uint8_t png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n', 1, 2, 3};
    static const uint8_t other[] = "RIFF....WEBP";
    const pl_image images[] = {{"caf\xC3\xA9.png", "image/png", png, sizeof png},
                               {"bad\xFF\"name", "", other, sizeof other}};
    pl_look_material materials[3] = {{.name = "\"shiny\"\n",
                                      .colour = {0.25f, 0.5f, 2, 1},
                                      .metal = 0.75f,
                                      .roughness = 0.5f,
                                      .emission = {0.5f, 0, 0},
                                      .two_sided = true,
                                      .alpha = 1,
                                      .cutoff = 0.25f,
                                      .textures = {0, -1, -1, 1, 0},
                                      .texture_uvs = {0, 0, 0, 0, 1}},
                                     {.name = "unused", .textures = {-1, -1, -1, -1, -1}},
                                     {.name = "plain", .textures = {-1, -1, -1, -1, -1}}};
    static const float uvs[6] = {0, 0, 1, 0, 0, 1}, zeros[9] = {0};
    static const float colours[12] = {2, -1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1};
    static const int32_t both[6] = {0, 1, 2, 2, 1, 0}, names[2] = {2, 0};
    const pl_look look = {.colours = colours,
                          .uv_set_count = 1,
                          .uvs = {uvs},
                          .triangle_materials = names,
                          .material_count = 3,
                          .materials = materials,
                          .image_count = 2,
                          .images = images};
    const pl_glb_surface surface = {.name = "s",
                                    .vertex_count = 3,
                                    .triangle_count = 2,
                                    .positions = triangle,
                                    .normals = zeros,
                                    .triangles = both,
                                    .look = &look};
    pl_memory memory;
    pl_trouble trouble;
    int shape, actor;
    file f;
    pl_glb *glb = open_writer(&memory, "look.glb");
    need(pl_glb_add_surface(glb, &surface, &shape, &trouble), &trouble);
    need(pl_glb_add_actor(glb, &(pl_glb_actor){.name = "a", .surface = shape}, &actor, &trouble),
         &trouble);
    need(pl_glb_frame(glb, 0, &trouble), &trouble);
    need(pl_glb_publish(glb, &trouble), &trouble);
    open_file(&f, "look.glb");
    assert_int_equal(length_of(&f, "materials"), 2);
    assert_int_equal(length_of(&f, "images"), 1);
    assert_string_equal(pl_json_string(f.json, at(&f, item(&f, "images", 0), "name")),
                        "caf\xC3\xA9.png");
    uint32_t shiny = item(&f, "materials", 1), base = at(&f, shiny, "pbrMetallicRoughness");
    double colour[4];
    assert_string_equal(pl_json_string(f.json, at(&f, shiny, "name")), "\"shiny\"\n");
    assert_true(numbers(&f, base, "baseColorFactor", 4, colour));
    assert_true(colour[0] == 0.25 && colour[1] == 0.5 && colour[2] == 1);
    assert_true(at(&f, base, "baseColorTexture") > 0);
    assert_int_equal(at(&f, shiny, "occlusionTexture"), 0); /* no PNG, no JPEG */
    assert_int_equal(at(&f, shiny, "emissiveTexture"), 0);  /* there is no second UV set */
    assert_string_equal(pl_json_string(f.json, at(&f, shiny, "alphaMode")), "MASK");
    uint32_t attributes = attributes_of(&f, 0);
    accessor normals = find_accessor(&f, number(&f, attributes, "NORMAL", -1));
    accessor shades = find_accessor(&f, number(&f, attributes, "COLOR_0", -1));
    assert_true(value(&normals, 0, 1) == 1);
    assert_true(value(&shades, 0, 0) == 1 && value(&shades, 0, 1) == 0);
    close_file(&f);
    assert_int_equal(memory.used, 0);
}

static void put_file(const char *name, const char *bytes, size_t size)
{
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* A mesh that names two images: one lies beside it, one does not. */
static void images_beside_the_mesh_are_embedded(void **state)
{
    (void)state;
    static const char png[] = "\x89PNG\r\n\x1A\n and more";
    static const char mtl[] =
        "newmtl red\nKd 1 0 0\nmap_Kd skin.png\nnewmtl blue\nKd 0 0 1\nmap_Kd "
        "lost.png\n";
    static const char obj[] =
        "mtllib tet.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nvt 1 0\nvt 0 1\n"
        "usemtl red\nf 1/1 3/2 2/3\nf 1/1 2/2 4/3\nusemtl blue\nf 2/1 3/2 4/3\nf 1/1 4/2 3/3\n";
    char text[1024];
    run r;
    file f;
    put_file("skin.png", png, sizeof png);
    put_file("tet.mtl", mtl, strlen(mtl));
    put_file("tet.obj", obj, strlen(obj));
    snprintf(text, sizeof text,
             "{\"pliant\":1,\"models\":{\"tet\":{\"file\":\"%s\",\"particles\":10}},"
             "\"bodies\":[{\"name\":\"tet\",\"model\":\"tet\",\"spin\":[0,9,0]}]}",
             path_of("tet.obj"));
    record_run(&r, text, "tet.glb", 5);
    open_file(&f, "tet.glb");
    assert_true(compare_run(&r, &f) <= 1.05e-5);
    assert_int_equal(length_of(&f, "images"), 1);
    assert_int_equal(length_of(&f, "materials"), 2);
    uint32_t view = item(&f, "bufferViews", number(&f, item(&f, "images", 0), "bufferView", -1));
    assert_int_equal(number(&f, view, "byteLength", 0), sizeof png);
    assert_memory_equal(f.bin + number(&f, view, "byteOffset", 0), png, sizeof png);
    close_file(&f);
    free_run(&r);
}

static void too_many_joints_are_refused(void **state)
{
    (void)state;
    enum { MANY = PL_GLB_MOST_JOINTS + 1 };
    pl_memory memory;
    pl_trouble trouble;
    int shape;
    float *joints = calloc(3 * (size_t)MANY, sizeof *joints);
    pl_glb_surface surface = {.name = "heap",
                              .vertex_count = 3,
                              .triangle_count = 1,
                              .positions = triangle,
                              .triangles = corners,
                              .joint_count = MANY,
                              .joints = joints,
                              .influence_count = 1,
                              .influences = carried,
                              .weights = whole};
    pl_glb *glb = open_writer(&memory, "many.glb");
    assert_int_equal(pl_glb_add_surface(glb, &surface, &shape, &trouble), PL_ERROR_ARGUMENT);
    assert_non_null(strstr(trouble.text, ".pc2"));
    assert_non_null(strstr(trouble.text, "heap"));
    surface.joint_count--;
    need(pl_glb_add_surface(glb, &surface, &shape, &trouble), &trouble);
    pl_glb_drop(glb, false);
    free(joints);
    assert_int_equal(memory.used, 0);
    assert_false(is_there("many.glb"));
}

/* ---- Trouble --------------------------------------------------------------------------------- */

#define SMALL                                                                                      \
    SCENE(BAR ",{\"name\":\"bare\",\"model\":\"bare\"}",                                           \
          ",\"colliders\":[{\"shape\":\"plane\"},{\"shape\":\"sphere\",\"radius\":1,"              \
          "\"position\":[9,9,9]}]")

static pl_status record_small(pl_memory *memory, stage *s, const char *name, pl_trouble *trouble)
{
    pl_glb_record *record;
    PL_TRY(pl_glb_record_open(memory, path_of(name), s->play, NULL, NULL, &record, trouble));
    pl_status status = PL_OK;
    for (int f = 0; f < 3 && status == PL_OK; f++) {
        status = pl_glb_record_frame(record, s->play, trouble);
        if (status == PL_OK)
            status = pl_play_step(s->play, NULL);
    }
    if (status != PL_OK) {
        pl_glb_record_drop(record, false);
        return status;
    }
    return pl_glb_record_publish(record, trouble);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    stage s;
    pl_trouble trouble;
    int before = count_files();
    bool good = false;
    open_stage(&s, SMALL);
    for (int i = 0; !good; i++) {
        pl_memory memory;
        pl_memory_init(&memory, NULL, 0);
        memory.fail_at = i;
        trouble = (pl_trouble){0};
        pl_status status = record_small(&memory, &s, "fail.glb", &trouble);
        good = status == PL_OK;
        if (!good) {
            assert_int_equal(status, PL_ERROR_MEMORY);
            assert_true(trouble.text[0]);
            assert_int_equal(count_files(), before);
        }
        assert_int_equal(memory.used, 0);
    }
    assert_true(is_there("fail.glb"));
    assert_int_equal(count_files(), before + 1);
    close_stage(&s);
}

/* A disk that is full, for a while. */
static void what_cannot_be_written_is_said(void **state)
{
    (void)state;
    stage s;
    pl_trouble trouble;
    pl_memory memory;
    struct rlimit old, tight;
    open_stage(&s, SMALL);
    pl_memory_init(&memory, NULL, 0);
    need(record_small(&memory, &s, "full.glb", &trouble), &trouble);
    struct stat info;
    assert_int_equal(stat(path_of("full.glb"), &info), 0);
    int before = count_files();
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    /* The frames fit and the file does not; then not even the frames. */
    for (rlim_t limit = 20000; limit; limit = limit > 100 ? 100 : 0) {
        assert_true((rlim_t)info.st_size > limit);
        tight = (struct rlimit){limit, old.rlim_max};
        setrlimit(RLIMIT_FSIZE, &tight);
        pl_status status = record_small(&memory, &s, "full.glb", &trouble);
        setrlimit(RLIMIT_FSIZE, &old);
        assert_int_equal(status, PL_ERROR_IO);
        assert_non_null(strstr(trouble.file, "full.glb"));
        assert_null(strstr(trouble.file, "keys"));
        struct stat now;
        assert_int_equal(stat(path_of("full.glb"), &now), 0);
        assert_true(now.st_ino == info.st_ino && now.st_size == info.st_size);
        assert_int_equal(count_files(), before);
    }
    assert_int_equal(pl_glb_record_open(&memory, "/no/such/place/x.glb", s.play, NULL, NULL,
                                        &(pl_glb_record *){NULL}, &trouble),
                     PL_ERROR_IO);
    assert_int_equal(memory.used, 0);
    close_stage(&s);
}

/* Frames from `first` to `last`, which the play has not reached yet. */
static void play_on(stage *s, pl_glb_record *record, int first, int last)
{
    pl_trouble trouble;
    for (int f = first; f <= last; f++) {
        if (f)
            assert_int_equal(pl_play_step(s->play, NULL), PL_OK);
        if (record)
            need(pl_glb_record_frame(record, s->play, &trouble), &trouble);
    }
}

static pl_glb_record *open_record(stage *s, const char *name, const pl_output_mark *mark)
{
    pl_trouble trouble;
    pl_glb_record *record;
    need(pl_glb_record_open(&s->memory, path_of(name), s->play, NULL, mark, &record, &trouble),
         &trouble);
    return record;
}

/* Killed some time after a mark; what goes on from there ends in the same file. */
static void a_run_can_go_on(void **state)
{
    (void)state;
    stage s;
    pl_trouble trouble;
    pl_output_mark mark;
    int before = count_files();
    open_stage(&s, SMALL);
    pl_glb_record *record = open_record(&s, "whole.glb", NULL);
    play_on(&s, record, 0, 19);
    need(pl_glb_record_publish(record, &trouble), &trouble);
    close_stage(&s);

    open_stage(&s, SMALL);
    record = open_record(&s, "part.glb", NULL);
    play_on(&s, record, 0, 9);
    need(pl_glb_record_set_mark(record, &mark, &trouble), &trouble);
    play_on(&s, record, 10, 14);
    pl_glb_record_drop(record, true);
    close_stage(&s);
    assert_int_equal(count_files(), before + 2);

    open_stage(&s, SMALL);
    play_on(&s, NULL, 0, 9);
    pl_output_mark wrong = {mark.offset - 4, mark.file};
    assert_int_equal(
        pl_glb_record_open(&s.memory, path_of("part.glb"), s.play, NULL, &wrong, &record, &trouble),
        PL_ERROR_FORMAT);
    record = open_record(&s, "part.glb", &mark);
    play_on(&s, record, 10, 19);
    need(pl_glb_record_publish(record, &trouble), &trouble);
    close_stage(&s);

    expect_same_files("whole.glb", "part.glb");
    assert_int_equal(count_files(), before + 2);
}

/* The skin of what broke is there though no frame follows; of a body that is gone nobody knows
   it. */
static void what_broke_can_go_on(void **state)
{
    (void)state;
    static const char *const scenes[] = {
        BREAKING(""), BREAKING(",\"events\":[{\"at\":0.6,\"remove\":[\"bar\"]}]")};
    run unbroken;
    stage s;
    pl_trouble trouble;
    pl_output_mark mark;
    record_run(&unbroken, scenes[0], "broken.glb", 40);
    free_run(&unbroken);
    for (int gone = 0; gone < 2; gone++) {
        open_stage(&s, scenes[gone]);
        pl_glb_record *record = open_record(&s, "torn.glb", NULL);
        play_on(&s, record, 0, 40);
        need(pl_glb_record_set_mark(record, &mark, &trouble), &trouble);
        pl_glb_record_drop(record, true);
        assert_true(s.play->bodies[0].removed == gone);
        pl_status status = pl_glb_record_open(&s.memory, path_of("torn.glb"), s.play, NULL, &mark,
                                              &record, &trouble);
        assert_int_equal(status, gone ? PL_ERROR_STATE : PL_OK);
        if (!gone)
            need(pl_glb_record_publish(record, &trouble), &trouble);
        close_stage(&s);
    }
    expect_same_files("broken.glb", "torn.glb");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_at_all_is_a_file),
        cmocka_unit_test(looks_are_kept),
        cmocka_unit_test(images_beside_the_mesh_are_embedded),
        cmocka_unit_test(too_many_joints_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(what_cannot_be_written_is_said),
        cmocka_unit_test(a_run_can_go_on),
        cmocka_unit_test(what_broke_can_go_on),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
