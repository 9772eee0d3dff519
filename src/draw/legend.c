/* The bar of colours, its numbers in strokes of constant width, and the colours: anchors of the map
   "viridis" (Smith & van der Walt, 2015, in the public domain), whose lightness rises evenly. */
#include "draw/legend.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "draw/draw.h"

/* ---- Colours --------------------------------------------------------------------------------- */

uint32_t pl_colour_of_srgb(double value)
{
    static const uint32_t anchors[] = {0x440154, 0x472D7B, 0x3B528B, 0x2C728E, 0x21908C,
                                       0x27AD81, 0x5DC863, 0xAADC32, 0xFDE725};
    enum { LAST = sizeof anchors / sizeof *anchors - 1 };
    double at = value > 0 ? (value < 1 ? value * LAST : LAST) : 0;
    int below = at < LAST ? (int)at : LAST - 1;
    uint32_t made = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        double a = anchors[below] >> shift & 255, b = anchors[below + 1] >> shift & 255;
        made |= (uint32_t)(a + (b - a) * (at - below) + 0.5) << shift;
    }
    return made;
}

void pl_colour_of(double value, float linear[3])
{
    pl_paint paint = pl_paint_from_srgb(pl_colour_of_srgb(value), 0);
    memcpy(linear, paint.colour, 3 * sizeof *linear);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

double pl_round_up(double value)
{
    if (!(value > 1e-300) || !(value < 1e300))
        return 1;
    double power = 1;
    while (power > value)
        power /= 10;
    while (power * 10 <= value)
        power *= 10;
    static const double steps[] = {1, 1.5, 2, 3, 4, 5, 6, 8, 10};
    for (int i = 0; i < 9; i++)
        if (value <= steps[i] * power * (1 + 1e-9))
            return steps[i] * power;
    return 10 * power;
}

void pl_number_with_unit(double value, const char *unit, char *text, size_t size)
{
    static const char *const prefixes[] = {"n", "u", "m", "", "k", "M", "G", "T"};
    int prefix = 3;
    for (; fabs(value) >= 999.995 && prefix < 7; prefix++)
        value /= 1000;
    for (; fabs(value) < 0.9999995 && value != 0 && prefix > 0; prefix--)
        value *= 1000;
    /* Decimals by hand: printf would ask the locale for the point. */
    double limited = fmin(fabs(value), 1e9);
    int decimals = limited < 9.995 ? 2 : limited < 99.95 ? 1 : 0, parts = 1;
    for (int i = 0; i < decimals; i++)
        parts *= 10;
    long whole = (long)(limited * parts + 0.5);
    for (; decimals > 0 && whole % 10 == 0; decimals--)
        whole /= 10, parts /= 10;
    int length = snprintf(text, size, "%s%ld", value < 0 ? "-" : "", whole / parts);
    if (decimals && length > 0 && (size_t)length < size)
        length += snprintf(text + length, size - (size_t)length, ".%0*ld", decimals, whole % parts);
    if (length > 0 && (size_t)length < size && *unit)
        snprintf(text + length, size - (size_t)length, " %s%s", prefixes[prefix], unit);
}

/* ---- Letters --------------------------------------------------------------------------------- */

/* Strokes on a grid of 4 by 6, x and y of each point, y upwards; a semicolon lifts the pen. */
static const struct {
    char letter;
    const char *strokes;
} letters[] = {
    {'0', "103041453616050110"},
    {'1', "152620;1030"},
    {'2', "05163645440040"},
    {'3', "05163645443313;334241301001"},
    {'4', "30360242"},
    {'5', "460603334241301001"},
    {'6', "453616050110304142331302"},
    {'7', "064610"},
    {'8', "13040516364544331302011030414233"},
    {'9', "011030414536160504133344"},
    {'.', "2020"},
    {'-', "0343"},
    {'%', "4600;0616150506;3040413130"},
    {'G', "45361605011030414323"},
    {'M', "0006234640"},
    {'P', "00063645443303"},
    {'T', "0646;2620"},
    {'a', "0314344340;421201103041"},
    {'k', "0006;0234;1240"},
    {'m', "0004;03142320;23344340"},
    {'n', "0004;0314344340"},
    {'u', "0401103041;4440"},
};

static const char *strokes_of(char letter)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].letter == letter)
            return letters[i].strokes;
    return NULL;
}

static bool next_point(const char **s, double p[2], bool *lifted)
{
    *lifted = false;
    while (**s == ' ' || **s == ';') {
        *lifted |= **s == ';';
        ++*s;
    }
    if (!(*s)[0] || !(*s)[1])
        return false;
    p[0] = (*s)[0] - '0';
    p[1] = (*s)[1] - '0';
    *s += 2;
    return true;
}

static double distance_to_segment(double x, double y, const double a[2], const double b[2])
{
    double u = b[0] - a[0], v = b[1] - a[1], length2 = u * u + v * v;
    double t = length2 > 0 ? ((x - a[0]) * u + (y - a[1]) * v) / length2 : 0;
    t = fmax(0, fmin(1, t));
    return hypot(x - a[0] - t * u, y - a[1] - t * v);
}

static double distance_to_letter(double x, double y, const char *strokes)
{
    double least = 1e9, from[2], to[2];
    bool lifted, first = true;
    while (next_point(&strokes, to, &lifted)) {
        if (!first && !lifted)
            least = fmin(least, distance_to_segment(x, y, from, to));
        memcpy(from, to, sizeof from);
        first = false;
    }
    return least;
}

static void blend(uint8_t *pixel, uint32_t rgb, double part)
{
    for (int k = 0; k < 3; k++) {
        double colour = rgb >> (16 - 8 * k) & 255;
        pixel[k] = (uint8_t)(pixel[k] + (colour - pixel[k]) * part + 0.5);
    }
}

/* Dark strokes with a pale edge, so that they can be read on anything. */
static void draw_letter(uint8_t *rgba, int width, int height, double left, double base, double unit,
                        const char *strokes)
{
    double half = fmax(0.6, 0.42 * unit);
    int margin = (int)ceil(half + 3);
    for (int y = (int)(base - 6 * unit) - margin; y <= (int)base + margin; y++)
        for (int x = (int)left - margin; x <= (int)(left + 4 * unit) + margin; x++) {
            if (x < 0 || y < 0 || x >= width || y >= height)
                continue;
            double away = unit * distance_to_letter((x + 0.5 - left) / unit,
                                                    (base - y - 0.5) / unit, strokes);
            uint8_t *pixel = rgba + 4 * ((size_t)y * (size_t)width + (size_t)x);
            blend(pixel, 0xFFFFFF, 0.6 * fmax(0, fmin(1, half + 2 - away)));
            blend(pixel, 0x30363C, fmax(0, fmin(1, half + 0.5 - away)));
        }
}

double pl_text_draw(uint8_t *rgba, int width, int height, double left, double base, double size,
                    const char *text)
{
    double unit = size / 6, at = left;
    for (; *text; text++) {
        const char *strokes = strokes_of(*text);
        bool narrow = *text == '.' || *text == ' ';
        if (!strokes && *text != ' ')
            continue;
        if (strokes && rgba)
            draw_letter(rgba, width, height, at - (narrow ? unit : 0), base, unit, strokes);
        at += (narrow ? 3 : 5.6) * unit;
    }
    return at - left;
}

/* ---- The bar --------------------------------------------------------------------------------- */

static void draw_bar(uint8_t *rgba, int width, int left, int top, int across, int high)
{
    for (int y = -1; y <= high; y++)
        for (int x = -1; x <= across; x++) {
            bool edge = x < 0 || y < 0 || x == across || y == high;
            uint8_t *pixel = rgba + 4 * ((size_t)(top + y) * (size_t)width + (size_t)(left + x));
            uint32_t colour = pl_colour_of_srgb((x + 0.5) / across);
            blend(pixel, edge ? 0x30363C : colour, edge ? 0.5 : 1);
        }
}

void pl_legend_draw(uint8_t *rgba, int width, int height, double high, const char *unit)
{
    enum { SMALLEST = 120 };
    if (width < SMALLEST || height < SMALLEST * 2 / 3)
        return;
    double size = fmax(7, height / 48.0);
    int left = (int)(0.04 * width), across = (int)fmax(0.2 * width, 11 * size);
    int bar = (int)size, top = (int)(height - 0.04 * height - 2.6 * size) - bar;
    draw_bar(rgba, width, left, top, across, bar);
    for (int i = 0; i < 3; i++) {
        char text[32];
        pl_number_with_unit(high * i / 2, i ? unit : "", text, sizeof text);
        double wide = pl_text_draw(NULL, 0, 0, 0, 0, size, text);
        double at = left + across * i / 2.0 - (i ? wide / 2 : 0);
        pl_text_draw(rgba, width, height, at, top + bar + 1.9 * size, size, text);
    }
}
