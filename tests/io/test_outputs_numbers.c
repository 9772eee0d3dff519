/* Numbers of a run: what a frame is summed up to, tables (.csv) and plots (.svg), against the
   bodies themselves and against sums made here. */
#include "support/check.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "io/output_plot.h"
#include "io/outputs.h"

static char path[64];

/* A box that falls on a floor and comes to rest, and one far above it. */
static const char scene_text[] =
    "{\"pliant\":1,\"world\":{\"step\":0.02,\"frames\":10},\"bodies\":["
    "{\"model\":{\"shape\":\"box\",\"count\":[3,3,3],\"size\":[1,1,1]},\"position\":[0,0.55,0],"
    "\"material\":{\"like\":\"rubber\",\"damping\":3}},"
    "{\"model\":{\"shape\":\"box\",\"count\":[2,2,2],\"size\":[1,1,1]},\"position\":[9,900,0],"
    "\"velocity\":[3,0,0]}],"
    "\"colliders\":[{\"shape\":\"plane\"}]}";

typedef struct run {
    pl_memory memory;
    pl_scene *scene;
    pl_play *play;
} run;

static void start(run *r)
{
    pl_trouble trouble;
    pl_play_options options = pl_default_play_options();
    pl_memory_init(&r->memory, NULL, 0);
    if (pl_scene_read(&r->memory, "test", scene_text, strlen(scene_text), &r->scene, &trouble) ||
        pl_play_create(r->scene, 0, &options, &r->play, &trouble))
        fail_msg("%s: %s", trouble.path, trouble.text);
}

static void end(run *r)
{
    pl_play_destroy(r->play);
    pl_scene_free(r->scene);
    assert_int_equal(r->memory.used, 0);
}

/* ---- Files ----------------------------------------------------------------------------------- */

typedef struct file {
    pl_memory memory;
    pl_output *output;
    char *text;
    size_t size;
} file;

static void open_file(file *f)
{
    pl_trouble trouble;
    pl_memory_init(&f->memory, NULL, 0);
    if (pl_output_open(&f->memory, path, &f->output, &trouble) != PL_OK)
        fail_msg("%s", trouble.text);
}

/* Publishes, and reads it back as a string. */
static void finish_file(file *f)
{
    pl_trouble trouble;
    char *bytes = NULL;
    if (pl_output_publish(f->output, &trouble) != PL_OK ||
        pl_file_read(&f->memory, path, (size_t)1 << 30, &bytes, &f->size, &trouble) != PL_OK)
        fail_msg("%s", trouble.text);
    f->text = calloc(f->size + 1, 1);
    assert_non_null(f->text);
    memcpy(f->text, bytes, f->size);
    pl_memory_free(&f->memory, bytes);
}

static void free_file(file *f)
{
    free(f->text);
    unlink(path);
    assert_int_equal(f->memory.used, 0);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static void frames_are_summed_up(void **state)
{
    (void)state;
    run r;
    pl_frame_numbers n;
    start(&r);
    assert_int_equal(pl_frame_numbers_read(r.play, NULL, &n), PL_OK);
    assert_false(n.timed);
    assert_int_equal(n.contacts, 0);
    assert_int_equal(n.awake, 2);
    bool slept = false;
    for (int f = 1; f <= 400 && !slept; f++) {
        pl_report report = {0};
        assert_int_equal(pl_play_step(r.play, &report), PL_OK);
        assert_int_equal(pl_frame_numbers_read(r.play, &report, &n), PL_OK);
        pl_energy sum = {0};
        double momentum[3] = {0};
        for (int i = 0; i < 2; i++) {
            pl_energy e;
            pl_body_state s;
            pl_body_get_energy(r.play->world, r.play->bodies[i].handle, &e);
            pl_body_get_state(r.play->world, r.play->bodies[i].handle, &s);
            sum.kinetic += e.kinetic;
            sum.potential += e.potential;
            sum.elastic += e.elastic;
            for (int k = 0; k < 3; k++)
                momentum[k] += s.mass * s.velocity[k];
        }
        assert_true(n.energy.kinetic == sum.kinetic && n.energy.elastic == sum.elastic);
        assert_true(pl_mechanical_energy(&n.energy) == sum.kinetic + sum.potential + sum.elastic);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(n.momentum[k] - momentum[k]) <= 1e-4 * (1 + fabs(momentum[k])));
        assert_int_equal(n.frame, f);
        assert_true(fabs(n.time - 0.02 * f) < 1e-9);
        assert_true(n.timed && n.ms_total == report.ms_total && n.ms[1] == report.ms_local &&
                    n.ms[5] == report.ms_contact);
        slept = n.awake == 1;
        assert_true(n.awake == 1 || n.awake == 2);
    }
    /* The one on the floor sleeps there, and touches nothing but the floor. */
    assert_true(slept);
    assert_int_equal(n.contacts, 1);
    assert_true(n.touches >= 1);
    end(&r);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static pl_frame_numbers sample(uint64_t frame)
{
    pl_frame_numbers n = {.frame = frame,
                          .time = 0.1 * (double)frame,
                          .energy = {1.0 / 3, -2e-20, 12345.678, 0, 1e300},
                          .momentum = {-0.1, 0, 7},
                          .contacts = 3,
                          .touches = 40,
                          .awake = 2,
                          .timed = frame > 0,
                          .ms_total = 0.7};
    for (int k = 0; k < PL_STAGES; k++)
        n.ms[k] = 0.1 * k;
    return n;
}

/* One record of RFC 4180; returns how many cells, and where the next begins. */
static int split_record(char **at, char cells[32][256])
{
    int count = 0;
    char *s = *at;
    for (;; s++) {
        char *to = cells[count++];
        assert_true(count < 32);
        if (*s == '"') {
            for (s++; *s != '"' || s[1] == '"'; s++) {
                assert_true(*s);
                s += *s == '"';
                *to++ = *s;
            }
            s++;
        } else {
            while (*s != ',' && *s != '\r') {
                assert_true(*s && *s != '"' && *s != '\n');
                *to++ = *s++;
            }
        }
        *to = 0;
        if (*s != ',')
            break;
    }
    assert_true(s[0] == '\r' && s[1] == '\n');
    *at = s + 2;
    return count;
}

static int find_cell(char names[32][256], int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    fail_msg("no column %s", name);
    return -1;
}

static void tables_read_back_exactly(void **state)
{
    (void)state;
    static const char *const runs[] = {"plain", "with, comma", "with \"quotes\"", "Zeile\r\nzwei",
                                       "größer"};
    char names[32][256], cells[32][256];
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is installed: no comma may come from it */
    file f;
    open_file(&f);
    pl_write_csv_header(f.output, true);
    for (int i = 0; i < 5; i++) {
        pl_frame_numbers n = sample((uint64_t)i);
        n.energy.pins = i == 2 ? INFINITY : 0.25;
        pl_write_csv_row(f.output, &n, runs[i]);
    }
    finish_file(&f);
    setlocale(LC_ALL, "C");
    char *at = f.text;
    int count = split_record(&at, names);
    assert_int_equal(count, 2 + 13 + PL_STAGES + 1);
    for (int i = 0; i < 5; i++) {
        pl_frame_numbers n = sample((uint64_t)i);
        const struct {
            const char *name;
            double value;
        } expected[] = {{"frame", i},
                        {"time_s", n.time},
                        {"kinetic_J", n.energy.kinetic},
                        {"potential_J", n.energy.potential},
                        {"elastic_J", n.energy.elastic},
                        {"inertia_J", n.energy.inertia},
                        {"momentum_x_kg_m_per_s", -0.1},
                        {"momentum_z_kg_m_per_s", 7},
                        {"contacts", 3},
                        {"touches", 40},
                        {"awake_bodies", 2}};
        assert_int_equal(split_record(&at, cells), count);
        assert_string_equal(cells[0], runs[i]);
        for (size_t k = 0; k < sizeof expected / sizeof *expected; k++)
            assert_true(strtod(cells[find_cell(names, count, expected[k].name)], NULL) ==
                        expected[k].value);
        const char *pins = cells[find_cell(names, count, "pins_J")];
        assert_string_equal(pins, i == 2 ? "" : "0.25");
        const char *local = cells[find_cell(names, count, "local_ms")];
        const char *total = cells[find_cell(names, count, "total_ms")];
        assert_string_equal(local, i ? "0.1" : "");
        assert_string_equal(total, i ? "0.7" : "");
    }
    assert_int_equal(*at, 0);
    free_file(&f);
}

static void tables_of_one_run_have_no_name(void **state)
{
    (void)state;
    char names[32][256];
    file f;
    pl_frame_numbers n = sample(7);
    open_file(&f);
    pl_write_csv_header(f.output, false);
    pl_write_csv_row(f.output, &n, NULL);
    finish_file(&f);
    char *at = f.text;
    int count = split_record(&at, names);
    assert_string_equal(names[0], "frame");
    assert_int_equal(split_record(&at, names), count);
    assert_string_equal(names[0], "7");
    free_file(&f);
}

/* ---- Plots ----------------------------------------------------------------------------------- */

static pl_frame_numbers noise(pl_rng *rng, uint64_t frame)
{
    pl_frame_numbers n = sample(frame);
    n.energy.kinetic = (double)pl_random_between(rng, 0, 5);
    n.energy.potential = (double)pl_random_between(rng, -9, 5);
    n.energy.elastic = (double)pl_random_between(rng, 0, 2);
    n.energy.pins = (double)pl_random_between(rng, 0, 1);
    n.contacts = (int)pl_random_between(rng, 0, 100);
    n.awake = (int)pl_random_between(rng, 0, 100);
    for (int k = 0; k < PL_STAGES; k++)
        n.ms[k] = (double)pl_random_between(rng, 0, 1);
    n.ms_total = (double)pl_random_between(rng, 3, 4);
    return n;
}

/* Every bucket holds the lowest, highest and sum of exactly its frames. */
static void buckets_forget_no_peak(void **state)
{
    (void)state;
    static const int lengths[] = {1, 1023, 1024, 1025, 2048, 2049, 5000, 40000};
    static pl_plot plot;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        pl_rng rng = pl_rng_make(5);
        double *kinetic = calloc((size_t)lengths[l], sizeof *kinetic);
        assert_non_null(kinetic);
        memset(&plot, 0, sizeof plot);
        for (int i = 0; i < lengths[l]; i++) {
            pl_frame_numbers n = noise(&rng, (uint64_t)i);
            kinetic[i] = n.energy.kinetic;
            pl_plot_add(&plot, &n);
        }
        assert_int_equal(plot.frames, lengths[l]);
        assert_true(plot.used <= PL_PLOT_BUCKETS &&
                    (plot.stride == 1 || plot.used > PL_PLOT_BUCKETS / 2));
        int at = 0;
        for (int b = 0; b < plot.used; b++) {
            const pl_plot_bucket *bucket = &plot.buckets[b];
            double low = INFINITY, high = -INFINITY, sum = 0;
            assert_true(bucket->frames == plot.stride || b + 1 == plot.used);
            for (uint64_t k = 0; k < bucket->frames; k++, at++) {
                low = fmin(low, kinetic[at]);
                high = fmax(high, kinetic[at]);
                sum += kinetic[at];
            }
            assert_true(bucket->low[PL_PLOT_KINETIC] == low);
            assert_true(bucket->high[PL_PLOT_KINETIC] == high);
            assert_true(fabs(bucket->sum[PL_PLOT_KINETIC] - sum) <= 1e-12 * sum);
            assert_int_equal(bucket->timed, bucket->frames - (b == 0));
        }
        assert_int_equal(at, lengths[l]);
        free(kinetic);
    }
}

static void plots_of_any_length_are_small(void **state)
{
    (void)state;
    static pl_plot plot;
    pl_rng rng = pl_rng_make(7);
    memset(&plot, 0, sizeof plot);
    int most = 0;
    for (int i = 0; i < 1024 * 16; i++) {
        pl_frame_numbers n = noise(&rng, (uint64_t)i);
        pl_plot_add(&plot, &n);
        if (i != 0 && i != 1 && i != 1023 && i != 1024 && i != 1024 * 16 - 1)
            continue;
        file f;
        open_file(&f);
        pl_plot_write(&plot, f.output, "noise", "as bad as it gets");
        finish_file(&f);
        most = (int)f.size > most ? (int)f.size : most;
        assert_null(strstr(f.text, "nan"));
        assert_null(strstr(f.text, "inf"));
        free_file(&f);
    }
    if (most >= 500000)
        fail_msg("a plot of %d bytes", most);
}

/* Without any frame, too. */
static void an_empty_plot_is_drawn(void **state)
{
    (void)state;
    static pl_plot plot;
    file f;
    open_file(&f);
    pl_plot_write(&plot, f.output, "", "");
    finish_file(&f);
    assert_non_null(strstr(f.text, "</svg>"));
    assert_null(strstr(f.text, "nan"));
    free_file(&f);
}

/* Text between the tags of every <text>, one after the other. */
static bool next_text(char **at, const char *attributes, char *out, size_t size)
{
    char *found = *at;
    while ((found = strstr(found, "<text "))) {
        char *close = strchr(found, '>'), *text_end = strstr(close, "</text>");
        assert_non_null(text_end);
        *close = 0;
        bool wanted = strstr(found, attributes) != NULL;
        *close = '>';
        found = text_end;
        if (wanted) {
            snprintf(out, size, "%.*s", (int)(text_end - close - 1), close + 1);
            *at = found;
            return true;
        }
    }
    return false;
}

/* Kinetic energy rising evenly to `most` over two seconds is a straight line across the chart, and
   the numbers at the axis are 1, 2 or 5 times a power of ten apart. */
static void lines_are_where_the_axes_say(void **state)
{
    (void)state;
    static const struct {
        double most;
        const char *heading, *top;
    } cases[] = {{10, "Energy, J", "10"},    {1, "Energy, J", "1"},       {6500, "Energy, kJ", "8"},
                 {0.03, "Energy, mJ", "30"}, {1.7e7, "Energy, MJ", "20"}, {470, "Energy, J", "500"},
                 {2e-8, "Energy, nJ", "20"}};
    static pl_plot plot;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(&plot, 0, sizeof plot);
        for (int k = 0; k <= 100; k++) {
            pl_frame_numbers n = {.frame = (uint64_t)k, .time = 0.02 * k, .timed = k > 0};
            n.energy.kinetic = cases[i].most * k / 100;
            n.ms_total = 1;
            pl_plot_add(&plot, &n);
        }
        file f;
        open_file(&f);
        pl_plot_write(&plot, f.output, "a line", "");
        finish_file(&f);
        char text[256], *at = f.text;
        assert_true(next_text(&at, "class=\"heading\"", text, sizeof text));
        assert_string_equal(text, cases[i].heading);
        double last = -1, gap = 0;
        char top[256] = "";
        while (next_text(&at, "class=\"end\"", text, sizeof text) && strtod(text, NULL) > last) {
            gap = last >= 0 ? strtod(text, NULL) - last : 0;
            last = strtod(text, NULL);
            snprintf(top, sizeof top, "%s", text);
        }
        assert_string_equal(top, cases[i].top);
        while (gap >= 9.99)
            gap /= 10;
        while (gap < 0.999)
            gap *= 10;
        assert_true(fabs(gap - 1) < 1e-6 || fabs(gap - 2) < 1e-6 || fabs(gap - 5) < 1e-6);
        /* The chart is 868 wide from 68 on, and 184 high down to 296. */
        double scale = cases[i].heading[8] == 'k'   ? 1e3
                       : cases[i].heading[8] == 'm' ? 1e-3
                       : cases[i].heading[8] == 'M' ? 1e6
                       : cases[i].heading[8] == 'n' ? 1e-9
                                                    : 1;
        char *line = strstr(f.text, "stroke=\"#d55e00\"");
        assert_non_null(line);
        line = strstr(line, " d=\"M") + 4;
        double height = 184 * cases[i].most / scale / last;
        for (int k = 0; k <= 100; k++) {
            char *comma;
            double x = strtod(line + 1, &comma), y = strtod(comma + 1, &line);
            assert_true(fabs(x - (68 + 8.68 * k)) < 0.051);
            assert_true(fabs(y - (296 - height * k / 100)) < 0.051);
        }
        assert_int_equal(*line, '"');
        free_file(&f);
    }
}

static void names_are_escaped(void **state)
{
    (void)state;
    static pl_plot plot;
    file f;
    open_file(&f);
    pl_plot_write(&plot, f.output, "A&B <\"größer\"> 日本 \x01 \xff \xc0\x80 \xed\xa0\x80", "x<y");
    finish_file(&f);
    assert_non_null(
        strstr(f.text, ">A&amp;B &lt;&quot;größer&quot;&gt; 日本 \xEF\xBF\xBD \xEF\xBF\xBD "));
    assert_non_null(strstr(f.text, "x&lt;y"));
    for (size_t i = 0; i < f.size; i++)
        assert_true((unsigned char)f.text[i] >= 0x20 || f.text[i] == '\n');
    assert_null(strstr(f.text, "\xc0\x80"));
    assert_null(strstr(f.text, "\xed\xa0\x80"));
    free_file(&f);
}

/* One frame a thousand times as slow as the others is named, and does not flatten them. */
static void one_slow_frame_is_named(void **state)
{
    (void)state;
    static pl_plot plot;
    memset(&plot, 0, sizeof plot);
    for (int k = 0; k <= 100; k++) {
        pl_frame_numbers n = {.frame = (uint64_t)k, .time = k, .timed = k > 0};
        n.ms[1] = n.ms_total = k == 63 ? 2000 : 2;
        pl_plot_add(&plot, &n);
    }
    file f;
    open_file(&f);
    pl_plot_write(&plot, f.output, "", "");
    finish_file(&f);
    assert_non_null(strstr(f.text, "up to 2 s, in frame 63"));
    assert_non_null(strstr(f.text, "Time per frame, ms"));
    free_file(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_are_summed_up),
                                       cmocka_unit_test(tables_read_back_exactly),
                                       cmocka_unit_test(tables_of_one_run_have_no_name),
                                       cmocka_unit_test(buckets_forget_no_peak),
                                       cmocka_unit_test(plots_of_any_length_are_small),
                                       cmocka_unit_test(an_empty_plot_is_drawn),
                                       cmocka_unit_test(lines_are_where_the_axes_say),
                                       cmocka_unit_test(names_are_escaped),
                                       cmocka_unit_test(one_slow_frame_is_named)};
    snprintf(path, sizeof path, "/tmp/pliant-numbers-%ld", (long)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
