/* What the kinds of sampling share. */
#ifndef PL_SHAPE_SAMPLE_PARTS_H
#define PL_SHAPE_SAMPLE_PARTS_H

#include "shape/sample.h"
#include "shape/sample_cells.h"

/* Samples that a distance may ask for. */
enum { PL_MOST_SAMPLES = 20000000 };

pl_status pl_sample_def_check(const pl_sample_def *def, pl_error *error);

/* Arrays for `count` samples, components 0 and triangles -1. */
pl_status pl_samples_allocate(pl_memory *memory, int count, pl_samples *samples, pl_error *error);

/* Samples near each other get numbers near each other. */
pl_status pl_samples_order(pl_memory *memory, pl_samples *samples, pl_error *error);

/* How many spheres of this diameter, thrown at random, have their centres in a body; and the
   diameter for a count. By Steiner's formula for the body grown by half the diameter, which holds
   for thin bodies as well. */
double pl_sample_expected(double volume, double area, double length, double distance);
double pl_sample_distance_for(double volume, double area, double length, double count);

double pl_surface_area(const pl_surface *surface);

/* The cubic lattice, from cells a few times finer than it. */
pl_status pl_sample_lattice(pl_memory *memory, const pl_surface *surface, const pl_inside *inside,
                            const pl_sample_def *def, double volume, pl_samples *samples,
                            pl_error *error);

/* Components of volume samples: that of the nearest triangle. */
void pl_sample_components(const pl_surface *surface, const pl_inside *inside, pl_samples *samples);

#endif
