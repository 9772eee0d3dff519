/* The plot of a run as SVG: three charts below each other over one axis of time. Plain SVG 1.1 with
   a white background of its own, in colours that colour-blind people can tell apart (Okabe and Ito
   2008). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/number.h"
#include "io/output_plot.h"

enum {
    WIDTH = 960,
    HEIGHT = 868,
    LEFT = 68,
    RIGHT = 936,
    FIRST_CHART = 112,
    CHART_HEIGHT = 184,
    CHART_PITCH = 258,
    HEADING_ABOVE = 14, /* pixels between the line of names and a chart */
    LONGEST_TITLE = 84  /* characters */
};

#define INK "#333333"
#define PALE "#e4e4e4"
#define SOFT "#6b6b6b"

/* ---- Text and numbers ------------------------------------------------------------------------ */

/* Bytes of the character at `s` if it is one in UTF-8 that XML can hold, else 0. */
static int character_length(const unsigned char *s)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    int length = s[0] < 0x80       ? 1
                 : s[0] >> 5 == 6  ? 2
                 : s[0] >> 4 == 14 ? 3
                 : s[0] >> 3 == 30 ? 4
                                   : 0;
    if (length == 0)
        return 0;
    uint32_t code = length == 1 ? s[0] : s[0] & (0x7FU >> length);
    for (int k = 1; k < length; k++) {
        if (s[k] >> 6 != 2)
            return 0;
        code = code << 6 | (s[k] & 0x3F);
    }
    bool allowed = code >= 0x20 && code != 0x7F && !(code >= 0xD800 && code < 0xE000) &&
                   code != 0xFFFE && code != 0xFFFF && code < 0x110000;
    return allowed && code >= least[length] ? length : 0;
}

static void write_text(pl_output *output, const char *text, int most)
{
    for (int n = 0; *text; n++) {
        if (n == most) {
            pl_output_text(output, "…");
            return;
        }
        int length = character_length((const unsigned char *)text);
        const char *escaped = length == 0    ? "\xEF\xBF\xBD"
                              : *text == '&' ? "&amp;"
                              : *text == '<' ? "&lt;"
                              : *text == '>' ? "&gt;"
                              : *text == '"' ? "&quot;"
                                             : NULL;
        if (escaped)
            pl_output_text(output, escaped);
        else
            pl_output_write(output, text, (size_t)length);
        text += length ? length : 1;
    }
}

/* A coordinate to a tenth of a pixel, without what a locale would make of it. */
static void write_pixels(pl_output *output, double value)
{
    long tenths = lround(value < -1e5 ? -1e6 : value > 1e5 ? 1e6 : value * 10);
    unsigned long size = (unsigned long)labs(tenths);
    pl_output_printf(output, "%s%lu", tenths < 0 ? "-" : "", size / 10);
    if (size % 10)
        pl_output_printf(output, ".%lu", size % 10);
}

static void write_short(pl_output *output, double value)
{
    char text[PL_NUMBER_TEXT];
    pl_output_write(output, text, (size_t)pl_number_format_short(value, text));
}

/* ---- Axes ------------------------------------------------------------------------------------ */

typedef struct unit {
    double size;
    const char *name;
} unit;

typedef struct axis {
    double low, high, step; /* in units */
    unit unit;
} axis;

static const unit joules[] = {{1e-9, "nJ"}, {1e-6, "µJ"}, {1e-3, "mJ"}, {1, "J"},
                              {1e3, "kJ"},  {1e6, "MJ"},  {1e9, "GJ"},  {0, NULL}};
static const unit milliseconds[] = {{1e-6, "ns"}, {1e-3, "µs"}, {1, "ms"}, {1e3, "s"}, {0, NULL}};
static const unit seconds[] = {{1e-6, "µs"}, {1e-3, "ms"}, {1, "s"}, {0, NULL}};
static const unit pieces[] = {{1, ""}, {0, NULL}};

/* The smallest of 1, 2, 5, 10, 20, … (or of 0.1, 0.2, …) that is not below `value`. */
static double round_step(double value)
{
    double power = 1;
    while (power < value && power < 1e300)
        power *= 10;
    while (power / 10 >= value && power > 1e-300)
        power /= 10;
    return power / 5 >= value ? power / 5 : power / 2 >= value ? power / 2 : power;
}

/* The largest one that leaves a number of at least 1. */
static unit pick_unit(const unit *units, double value)
{
    int i = 0;
    while (units[i + 1].name && units[i + 1].size <= value)
        i++;
    return units[i];
}

/* From 0, or from a round number below `low`, to a round number above `high` (`exact`: to
   itself). */
static axis make_axis(double low, double high, int ticks, const unit *units, bool exact)
{
    axis a;
    high = high > 0 ? high : low < 0 ? 0 : 1;
    a.unit = pick_unit(units, fmax(high, -low));
    low /= a.unit.size;
    high /= a.unit.size;
    a.step = round_step((high - (low < 0 ? low : 0)) / ticks);
    if (units == pieces && a.step < 1)
        a.step = 1;
    a.low = low < 0 ? floor(low / a.step) * a.step : 0;
    a.high = exact ? high : ceil(high / a.step - 1e-9) * a.step;
    return a;
}

static double along(const axis *a, double value)
{
    return (value / a->unit.size - a->low) / (a->high - a->low);
}

/* ---- Charts ---------------------------------------------------------------------------------- */

typedef struct line {
    pl_plot_series series;
    const char *name, *colour;
    double shift; /* taken off every value */
    double width;
} line;

typedef struct chart {
    pl_output *output;
    const pl_plot *plot;
    int top;
    axis x, y;
} chart;

static double x_at(const chart *c, double time)
{
    return LEFT + (RIGHT - LEFT) * along(&c->x, time);
}

static double y_at(const chart *c, double value)
{
    return c->top + CHART_HEIGHT * (1 - along(&c->y, value));
}

static double middle_time(const pl_plot_bucket *bucket)
{
    return (bucket->low[PL_PLOT_TIME] + bucket->high[PL_PLOT_TIME]) / 2;
}

static double lowest(const pl_plot *plot, pl_plot_series series)
{
    double low = INFINITY;
    for (int i = 0; i < plot->used; i++)
        low = fmin(low, plot->buckets[i].low[series]);
    return low < INFINITY ? low : 0;
}

static double highest(const pl_plot *plot, pl_plot_series series)
{
    double high = -INFINITY;
    for (int i = 0; i < plot->used; i++)
        high = fmax(high, plot->buckets[i].high[series]);
    return high > -INFINITY ? high : 0;
}

static void write_label(pl_output *output, double x, double y, const char *attributes)
{
    pl_output_text(output, "<text x=\"");
    write_pixels(output, x);
    pl_output_text(output, "\" y=\"");
    write_pixels(output, y);
    pl_output_printf(output, "\"%s>", attributes);
}

static void write_rule(pl_output *output, double x1, double y1, double x2, double y2)
{
    pl_output_text(output, "M");
    write_pixels(output, x1);
    pl_output_text(output, ",");
    write_pixels(output, y1);
    pl_output_text(output, "L");
    write_pixels(output, x2);
    pl_output_text(output, ",");
    write_pixels(output, y2);
}

static int tick_count(const axis *a)
{
    return (int)floor((a->high - a->low) / a->step + 1e-6) + 1;
}

static void write_grid(const chart *c)
{
    pl_output *output = c->output;
    int bottom = c->top + CHART_HEIGHT;
    pl_output_text(output, "<path class=\"grid\" d=\"");
    for (int i = 0; i < tick_count(&c->y); i++) {
        double y = bottom - CHART_HEIGHT * (i * c->y.step) / (c->y.high - c->y.low);
        write_rule(output, LEFT, y, RIGHT, y);
    }
    for (int i = 0; i < tick_count(&c->x); i++) {
        double x = LEFT + (RIGHT - LEFT) * (i * c->x.step) / (c->x.high - c->x.low);
        write_rule(output, x, c->top, x, bottom);
    }
    pl_output_text(output, "\"/>\n");
}

static void write_ticks(const chart *c)
{
    pl_output *output = c->output;
    int bottom = c->top + CHART_HEIGHT, first = (int)lround(c->y.low / c->y.step);
    for (int i = 0; i < tick_count(&c->y); i++) {
        double y = bottom - CHART_HEIGHT * (i * c->y.step) / (c->y.high - c->y.low);
        write_label(output, LEFT - 8, y + 4, " class=\"end\"");
        write_short(output, (first + i) * c->y.step);
        pl_output_text(output, "</text>\n");
    }
    for (int i = 0; i < tick_count(&c->x); i++) {
        double x = LEFT + (RIGHT - LEFT) * (i * c->x.step) / (c->x.high - c->x.low);
        write_label(output, x, bottom + 17, " class=\"middle\"");
        write_short(output, i * c->x.step);
        pl_output_text(output, "</text>\n");
    }
    write_label(output, RIGHT, bottom + 33, " class=\"end soft\"");
    pl_output_printf(output, "time, %s</text>\n", c->x.unit.name);
}

/* Names of the lines, from the right edge of the chart leftwards; widths are guessed. */
static double name_width(const char *name)
{
    return 34 + 6.4 * (double)strlen(name);
}

static void write_names(const chart *c, const line *lines, int count, bool areas)
{
    pl_output *output = c->output;
    double x = RIGHT, y = c->top - HEADING_ABOVE;
    for (int i = 0; i < count; i++)
        x -= name_width(lines[i].name);
    for (int i = 0; i < count; i++) {
        bool block = areas && i + 1 < count; /* the last one is the line above the areas */
        pl_output_text(output, "<rect x=\"");
        write_pixels(output, x + 12);
        pl_output_text(output, "\" y=\"");
        write_pixels(output, block ? y - 9 : y - 5.5);
        pl_output_printf(output, "\" width=\"14\" height=\"%s\" fill=\"%s\"/>", block ? "10" : "3",
                         lines[i].colour);
        write_label(output, x + 31, y, "");
        pl_output_printf(output, "%s</text>\n", lines[i].name);
        x += name_width(lines[i].name);
    }
}

static void write_heading(const chart *c, const char *heading)
{
    write_label(c->output, LEFT, c->top - HEADING_ABOVE, " class=\"heading\"");
    pl_output_printf(c->output, "%s%s%s</text>\n", heading, c->y.unit.name[0] ? ", " : "",
                     c->y.unit.name);
}

static void write_point(const chart *c, char command, double time, double value)
{
    pl_output_write(c->output, &command, 1);
    write_pixels(c->output, x_at(c, time));
    pl_output_text(c->output, ",");
    write_pixels(c->output, y_at(c, value));
}

static bool has_values(const pl_plot_bucket *bucket, pl_plot_series series)
{
    return bucket->low[series] <= bucket->high[series];
}

/* Where a bucket has many frames: from the lowest to the highest, so that no peak is lost. */
static void write_band(const chart *c, const line *l)
{
    const pl_plot *plot = c->plot;
    bool begun = false;
    if (plot->stride == 1)
        return;
    pl_output_printf(c->output, "<path fill=\"%s\" fill-opacity=\"0.3\" d=\"", l->colour);
    for (int i = 0; i < plot->used; i++)
        if (has_values(&plot->buckets[i], l->series)) {
            const pl_plot_bucket *bucket = &plot->buckets[i];
            write_point(c, begun ? 'L' : 'M', middle_time(bucket),
                        bucket->high[l->series] - l->shift);
            begun = true;
        }
    for (int i = plot->used; i-- > 0;)
        if (has_values(&plot->buckets[i], l->series)) {
            const pl_plot_bucket *bucket = &plot->buckets[i];
            write_point(c, 'L', middle_time(bucket), bucket->low[l->series] - l->shift);
        }
    pl_output_text(c->output, begun ? "z\"/>\n" : "\"/>\n");
}

/* The mean of every bucket. */
static void write_line(const chart *c, const line *l)
{
    bool begun = false, times = l->series >= PL_PLOT_STAGE && l->series <= PL_PLOT_TOTAL;
    pl_output_printf(c->output, "<path class=\"line\" stroke=\"%s\" stroke-width=\"", l->colour);
    write_pixels(c->output, l->width);
    pl_output_text(c->output, "\" d=\"");
    for (int i = 0; i < c->plot->used; i++) {
        const pl_plot_bucket *bucket = &c->plot->buckets[i];
        if (!has_values(bucket, l->series))
            continue;
        double count = (double)(times ? bucket->timed : bucket->frames);
        write_point(c, begun ? 'L' : 'M', middle_time(bucket),
                    bucket->sum[l->series] / count - l->shift);
        begun = true;
    }
    /* One frame alone is a dot. */
    pl_output_text(c->output, begun && c->plot->used == 1 ? "h0.01\"/>\n" : "\"/>\n");
}

/* The first on top. */
static void write_lines(const chart *c, const line *lines, int count)
{
    for (int i = count; i-- > 0;)
        write_band(c, &lines[i]);
    for (int i = count; i-- > 0;)
        write_line(c, &lines[i]);
}

/* The sum of the means of stages 0 to `last`, filled down to the axis. */
static void write_area(const chart *c, int last, const char *colour)
{
    double before = -1;
    pl_output_printf(c->output, "<path fill=\"%s\" d=\"", colour);
    for (int i = 0; i < c->plot->used; i++) {
        const pl_plot_bucket *bucket = &c->plot->buckets[i];
        double sum = 0;
        for (int k = 0; k <= last; k++)
            sum += bucket->sum[PL_PLOT_STAGE + k];
        if (!bucket->timed)
            continue;
        if (before < 0)
            write_point(c, 'M', middle_time(bucket), 0);
        before = middle_time(bucket);
        write_point(c, 'L', before, sum / (double)bucket->timed);
    }
    if (before >= 0)
        write_point(c, 'L', before, 0);
    pl_output_text(c->output, before >= 0 ? "z\"/>\n" : "\"/>\n");
}

/* What is drawn cannot leave the chart. */
static void begin_chart(const chart *c, int number)
{
    pl_output_printf(c->output,
                     "<clipPath id=\"clip%d\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
                     "</clipPath>\n",
                     number, LEFT, c->top - 2, RIGHT - LEFT + 2, CHART_HEIGHT + 4);
    write_grid(c);
    pl_output_printf(c->output, "<g clip-path=\"url(#clip%d)\">\n", number);
}

static void end_chart(const chart *c)
{
    pl_output_printf(c->output, "</g>\n<path class=\"axis\" d=\"M%d,%dH%d\"/>\n", LEFT,
                     c->top + CHART_HEIGHT, RIGHT);
    write_ticks(c);
}

/* ---- The three ------------------------------------------------------------------------------- */

/* Heights have no natural zero: the potential counts from where it was lowest. */
static void draw_energies(chart c)
{
    double zero = lowest(c.plot, PL_PLOT_POTENTIAL), low = 0, high = 0;
    line all[] = {{PL_PLOT_KINETIC, "kinetic", "#d55e00", 0, 1.6},
                  {PL_PLOT_POTENTIAL, "of gravity, above its lowest", "#0072b2", zero, 1.6},
                  {PL_PLOT_ELASTIC, "elastic", "#009e73", 0, 1.6},
                  {PL_PLOT_PINS, "of pins", "#cc79a7", 0, 1.6},
                  {PL_PLOT_MECHANICAL, "all together", INK, zero, 1.6}};
    line lines[5];
    int count = 0;
    for (int i = 0; i < 5; i++) {
        double from = lowest(c.plot, all[i].series) - all[i].shift,
               to = highest(c.plot, all[i].series) - all[i].shift;
        low = fmin(low, from);
        high = fmax(high, to);
        if (from != 0 || to != 0 || all[i].series != PL_PLOT_PINS)
            lines[count++] = all[i];
    }
    c.y = make_axis(low, high, 6, joules, false);
    write_heading(&c, "Energy");
    write_names(&c, lines, count, false);
    begin_chart(&c, 1);
    write_lines(&c, lines, count);
    end_chart(&c);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How high the chart of times has to be. A machine that was busy with something else for a moment
   shall not flatten everything: what is far above the usual leaves the chart, and is named. */
static double highest_time(const pl_plot *plot, bool *cut)
{
    double means[PL_PLOT_BUCKETS], most = 0;
    int count = 0;
    for (int i = 0; i < plot->used; i++) {
        const pl_plot_bucket *bucket = &plot->buckets[i];
        double stages = 0;
        if (!bucket->timed)
            continue;
        for (int k = 0; k < PL_STAGES; k++)
            stages += bucket->sum[PL_PLOT_STAGE + k] / (double)bucket->timed;
        means[count++] = fmax(stages, bucket->sum[PL_PLOT_TOTAL] / (double)bucket->timed);
        most = fmax(most, fmax(stages, bucket->high[PL_PLOT_TOTAL]));
    }
    qsort(means, (size_t)count, sizeof *means, compare_numbers);
    double usual = count ? means[(count - 1) * 19 / 20] : 0;
    *cut = most > 3 * usual;
    return *cut ? 2 * usual : most;
}

static void write_slowest(const chart *c)
{
    unit u = pick_unit(milliseconds, c->plot->slowest_ms);
    write_label(c->output, LEFT, c->top + CHART_HEIGHT + 33, " class=\"soft\"");
    pl_output_text(c->output, "beyond the chart: up to ");
    write_short(c->output, lround(c->plot->slowest_ms / u.size * 10) / 10.0);
    pl_output_printf(c->output, " %s, in frame %" PRIu64 "</text>\n", u.name,
                     c->plot->slowest_frame);
}

static void draw_times(chart c)
{
    static const char *const colours[PL_STAGES] = {"#999999", "#0072b2", "#56b4e9", "#009e73",
                                                   "#cc79a7", "#e69f00", "#f0e442", "#d55e00"};
    line lines[PL_STAGES + 1];
    int count = 0;
    bool cut;
    c.y = make_axis(0, highest_time(c.plot, &cut), 6, milliseconds, false);
    for (int k = 0; k < PL_STAGES; k++)
        if (highest(c.plot, PL_PLOT_STAGE + (pl_plot_series)k) > 0)
            lines[count++] =
                (line){PL_PLOT_STAGE + (pl_plot_series)k, pl_stage_names[k], colours[k], 0, 0};
    lines[count++] = (line){PL_PLOT_TOTAL, "frame (wall time)", INK, 0, 1};
    write_heading(&c, "Time per frame");
    write_names(&c, lines, count, true);
    begin_chart(&c, 2);
    write_band(&c, &lines[count - 1]);
    for (int k = count - 1; k-- > 0;)
        write_area(&c, (int)(lines[k].series - PL_PLOT_STAGE), lines[k].colour);
    write_line(&c, &lines[count - 1]);
    end_chart(&c);
    if (cut)
        write_slowest(&c);
}

static void draw_contacts(chart c)
{
    static const line lines[] = {{PL_PLOT_CONTACTS, "pairs that touch", "#d55e00", 0, 1.6},
                                 {PL_PLOT_AWAKE, "bodies awake", "#0072b2", 0, 1.6}};
    double high = fmax(highest(c.plot, PL_PLOT_CONTACTS), highest(c.plot, PL_PLOT_AWAKE));
    c.y = make_axis(0, high, 6, pieces, false);
    write_heading(&c, "Contacts");
    write_names(&c, lines, 2, false);
    begin_chart(&c, 3);
    write_lines(&c, lines, 2);
    end_chart(&c);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void write_head(pl_output *output, const char *title, const char *about)
{
    pl_output_printf(output,
                     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
                     "width=\"%d\" height=\"%d\" role=\"img\">\n<title>",
                     WIDTH, HEIGHT, WIDTH, HEIGHT);
    write_text(output, title, 1000);
    pl_output_text(output,
                   "</title>\n<style>\n"
                   "text{font:12px system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:" INK
                   "}\n.end{text-anchor:end}.middle{text-anchor:middle}.soft{fill:" SOFT "}\n"
                   "text.title{font-size:20px;font-weight:600}\n"
                   "text.heading{font-size:14px;font-weight:600}\n"
                   "path.line{fill:none;stroke-linejoin:round;stroke-linecap:round}\n"
                   "path.grid{fill:none;stroke:" PALE "}path.axis{fill:none;stroke:" SOFT "}\n"
                   "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    write_label(output, LEFT, 40, " class=\"title\"");
    write_text(output, title, LONGEST_TITLE);
    pl_output_text(output, "</text>\n");
    write_label(output, LEFT, 62, " class=\"soft\"");
    write_text(output, about, 140);
    pl_output_text(output, "</text>\n");
}

void pl_plot_write(const pl_plot *plot, pl_output *output, const char *title, const char *about)
{
    chart c = {.output = output, .plot = plot, .top = FIRST_CHART};
    c.x = make_axis(0, highest(plot, PL_PLOT_TIME), 10, seconds, true);
    write_head(output, title, about);
    draw_energies(c);
    c.top += CHART_PITCH;
    draw_times(c);
    c.top += CHART_PITCH;
    draw_contacts(c);
    pl_output_text(output, "</svg>\n");
}
