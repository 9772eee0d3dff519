/* Colours for numbers, and what they mean, drawn into a finished picture. */
#ifndef PL_DRAW_LEGEND_H
#define PL_DRAW_LEGEND_H

#include <stddef.h>
#include <stdint.h>

/* From dark violet (0) over green to yellow (1), as bright as the number is large: readable for the
   colour-blind and in grey. Below 0 and above 1 as there; what is no number is as 0. */
void pl_colour_of(double value, float linear[3]);
uint32_t pl_colour_of_srgb(double value); /* 0xRRGGBB */

/* The next round number that is not below a positive one: 1, 1.5, 2, 3, 4, 5, 6 or 8 times a power
   of ten. */
double pl_round_up(double value);

/* "2.5 kPa": at most three digits, a prefix, the unit. */
void pl_number_with_unit(double value, const char *unit, char *text, size_t size);

/* A bar of the colours with the numbers 0, high / 2 and high, in the lower left corner. Pictures
   too small for it stay as they are. `rgba` has rows from the top. */
void pl_legend_draw(uint8_t *rgba, int width, int height, double high, const char *unit);

/* A line of text; its height is that of a capital letter, in pixels. Letters that are not known are
   left out. Returns how wide it is; draws nothing where `rgba` is NULL. */
double pl_text_draw(uint8_t *rgba, int width, int height, double left, double base, double size,
                    const char *text);

#endif
