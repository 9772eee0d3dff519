/* Adjacency, connectivity and colouring of a model's graph. Colours are greedy (each particle takes
   the smallest colour none of its neighbours has), tried in particle order and largest degree
   first, then evened out, so that the colours of a lone body fill the lanes. Everything depends on
   the edges alone, never on addresses or chance. */
#include "shape/graph.h"

#include <string.h>

#include "base/error.h"

/* Above this many colours evening them out costs more than it gives. */
enum { MAX_BALANCED_COLOURS = 64, BALANCE_PASSES = 2 };

static pl_status no_memory(const pl_model *model, pl_error *error)
{
    return pl_fail(error, PL_ERROR_MEMORY, NULL,
                   "no memory for the graph of %d particles and %d edges", model->particle_count,
                   model->edge_count);
}

static void fill_adjacency(pl_model *model, int32_t *cursor)
{
    int n = model->particle_count, m = model->edge_count;
    for (int e = 0; e < m; e++) {
        model->start[model->edges[2 * e] + 1]++;
        model->start[model->edges[2 * e + 1] + 1]++;
    }
    for (int i = 0; i < n; i++)
        model->start[i + 1] += model->start[i];
    memcpy(cursor, model->start, (size_t)n * sizeof *cursor);
    for (int e = 0; e < m; e++) {
        for (int side = 0; side < 2; side++) {
            int32_t at = cursor[model->edges[2 * e + side]]++;
            model->neighbour[at] = model->edges[2 * e + 1 - side];
            model->edge_of[at] = e;
        }
    }
}

static pl_status check_loops(const pl_model *model, pl_error *error)
{
    for (int e = 0; e < model->edge_count; e++) {
        int a = model->edges[2 * e];
        PL_CHECK(a != model->edges[2 * e + 1], PL_ERROR_ARGUMENT, error, PL_WHERE("edges[%d]", e),
                 "joins particle %d to itself; an edge needs two different particles", a);
    }
    return PL_OK;
}

/* `seen` holds zeros; entry j becomes 1 + the particle whose list named j last. */
static pl_status check_duplicates(const pl_model *model, int32_t *seen, pl_error *error)
{
    for (int i = 0; i < model->particle_count; i++) {
        for (int32_t p = model->start[i]; p < model->start[i + 1]; p++) {
            int j = model->neighbour[p];
            if (seen[j] != i + 1) {
                seen[j] = i + 1;
                continue;
            }
            int32_t first = model->start[i];
            while (model->neighbour[first] != j)
                first++;
            return pl_fail(
                error, PL_ERROR_ARGUMENT, PL_WHERE("edges[%d]", model->edge_of[p]),
                "joins particles %d and %d, as edges[%d] already does; give each pair once", i, j,
                model->edge_of[first]);
        }
    }
    return PL_OK;
}

/* Everything that can be reached from `first`, breadth first; returns how many particles. */
static int reach_from(const pl_model *model, int first, int32_t *reached, int32_t *queue)
{
    int count = 1;
    queue[0] = first;
    reached[first] = 1;
    for (int head = 0; head < count; head++) {
        int i = queue[head];
        for (int32_t p = model->start[i]; p < model->start[i + 1]; p++) {
            int j = model->neighbour[p];
            if (!reached[j]) {
                reached[j] = 1;
                queue[count++] = j;
            }
        }
    }
    return count;
}

/* `reached` holds zeros, `queue` anything. */
static pl_status count_pieces(pl_model *model, bool several, int32_t *reached, int32_t *queue,
                              pl_error *error)
{
    int first_count = 0;
    model->piece_count = 0;
    for (int i = 0; i < model->particle_count; i++) {
        if (reached[i])
            continue;
        PL_CHECK(several || i == 0, PL_ERROR_ARGUMENT, error, "edges",
                 "particle %d cannot be reached from particle 0 (%d of %d can); add an edge, or "
                 "make two models",
                 i, first_count, model->particle_count);
        int count = reach_from(model, i, reached, queue);
        first_count = i == 0 ? count : first_count;
        model->piece_count++;
    }
    return PL_OK;
}

pl_status pl_graph_connect(pl_model *model, bool several_pieces, pl_error *error)
{
    PL_TRY(check_loops(model, error));
    size_t n = (size_t)model->particle_count;
    int32_t *scratch = PL_NEW(&model->memory, int32_t, 2 * n);
    if (!scratch)
        return no_memory(model, error);
    fill_adjacency(model, scratch);
    memset(scratch, 0, n * sizeof *scratch);
    pl_status status = check_duplicates(model, scratch, error);
    if (status == PL_OK) {
        memset(scratch, 0, n * sizeof *scratch);
        status = count_pieces(model, several_pieces, scratch, scratch + n, error);
    }
    pl_memory_free(&model->memory, scratch);
    return status;
}

/* Scratch of the colouring; one block. */
typedef struct palette {
    int32_t *colour;   /* [n] the result */
    int32_t *trial;    /* [n] another attempt */
    int32_t *sequence; /* [n] the order in which particles choose */
    int32_t *taken;    /* [n + 1] colour -> 1 + the particle one of whose neighbours has it */
    int32_t *count;    /* [n + 1] */
} palette;

static void mark_taken(const pl_model *model, const int32_t *colour, int i, int32_t *taken)
{
    for (int32_t p = model->start[i]; p < model->start[i + 1]; p++) {
        int32_t c = colour[model->neighbour[p]];
        if (c >= 0)
            taken[c] = i + 1;
    }
}

/* Returns the number of colours. */
static int colour_greedily(const pl_model *model, const int32_t *sequence, int32_t *colour,
                           int32_t *taken)
{
    int n = model->particle_count, colours = 0;
    memset(taken, 0, ((size_t)n + 1) * sizeof *taken);
    for (int i = 0; i < n; i++)
        colour[i] = -1;
    for (int k = 0; k < n; k++) {
        int i = sequence[k], c = 0;
        mark_taken(model, colour, i, taken);
        while (taken[c] == i + 1)
            c++;
        colour[i] = c;
        colours = c >= colours ? c + 1 : colours;
    }
    return colours;
}

/* Largest degree first, equal ones in particle order: a counting sort. */
static void sort_by_degree(const pl_model *model, int32_t *sequence, int32_t *count)
{
    int n = model->particle_count;
    memset(count, 0, ((size_t)n + 1) * sizeof *count);
    for (int i = 0; i < n; i++)
        count[n -
              (model->start[i + 1] - model->start[i])]++; /* a degree is below n: never index 0 */
    for (int k = 1; k <= n; k++)
        count[k] += count[k - 1];
    for (int i = n - 1; i >= 0; i--)
        sequence[--count[n - (model->start[i + 1] - model->start[i])]] = i;
}

/* Moves particles, one by one, to the emptiest colour they may have. */
static void balance_colours(const pl_model *model, int colours, const palette *scratch)
{
    int n = model->particle_count;
    int32_t *load = scratch->count, *colour = scratch->colour, *taken = scratch->taken;
    memset(load, 0, (size_t)colours * sizeof *load);
    for (int i = 0; i < n; i++)
        load[colour[i]]++;
    for (int pass = 0; pass < BALANCE_PASSES; pass++) {
        memset(taken, 0, ((size_t)n + 1) * sizeof *taken);
        for (int i = 0; i < n; i++) {
            int best = colour[i];
            mark_taken(model, colour, i, taken);
            for (int c = 0; c < colours; c++)
                if (taken[c] != i + 1 && load[c] < load[best])
                    best = c;
            if (load[best] + 1 < load[colour[i]]) {
                load[colour[i]]--;
                load[best]++;
                colour[i] = best;
            }
        }
    }
}

static int choose_colours(const pl_model *model, palette *scratch)
{
    for (int i = 0; i < model->particle_count; i++)
        scratch->sequence[i] = i;
    int colours = colour_greedily(model, scratch->sequence, scratch->colour, scratch->taken);
    sort_by_degree(model, scratch->sequence, scratch->count);
    int other = colour_greedily(model, scratch->sequence, scratch->trial, scratch->taken);
    if (other < colours) {
        int32_t *swap = scratch->colour;
        scratch->colour = scratch->trial;
        scratch->trial = swap;
        colours = other;
    }
    if (colours <= MAX_BALANCED_COLOURS)
        balance_colours(model, colours, scratch);
    return colours;
}

static void order_by_colour(pl_model *model, const palette *scratch)
{
    int32_t *start = model->colour_start, *cursor = scratch->count;
    for (int i = 0; i < model->particle_count; i++)
        start[scratch->colour[i] + 1]++;
    for (int c = 0; c < model->colour_count; c++)
        start[c + 1] += start[c];
    memcpy(cursor, start, (size_t)model->colour_count * sizeof *cursor);
    for (int i = 0; i < model->particle_count; i++)
        model->order[cursor[scratch->colour[i]]++] = i;
}

pl_status pl_graph_colour(pl_model *model, pl_error *error)
{
    size_t n = (size_t)model->particle_count;
    int32_t *block = PL_NEW(&model->memory, int32_t, 5 * n + 2);
    if (!block)
        return no_memory(model, error);
    palette scratch = {block, block + n, block + 2 * n, block + 3 * n, block + 4 * n + 1};
    model->colour_count = choose_colours(model, &scratch);
    model->colour_start = PL_NEW(&model->memory, int32_t, model->colour_count + 1);
    if (model->colour_start)
        order_by_colour(model, &scratch);
    pl_memory_free(&model->memory, block);
    return model->colour_start ? PL_OK : no_memory(model, error);
}

/* `colour` holds zeros; entry i becomes 1 + the colour of particle i. */
static pl_status check_order(const pl_model *model, int32_t *colour, pl_error *error)
{
    for (int c = 0; c < model->colour_count; c++) {
        int32_t first = model->colour_start[c], end = model->colour_start[c + 1];
        PL_CHECK(first <= end && end <= model->particle_count, PL_ERROR_ARGUMENT, error,
                 PL_WHERE("colour_start[%d]", c + 1), "is out of order");
        for (int32_t k = first; k < end; k++) {
            int32_t i = model->order[k];
            PL_CHECK(i >= 0 && i < model->particle_count && !colour[i], PL_ERROR_ARGUMENT, error,
                     PL_WHERE("order[%d]", (int)k), "names particle %d: not there, or twice",
                     (int)i);
            PL_CHECK(k == first || i > model->order[k - 1], PL_ERROR_ARGUMENT, error,
                     PL_WHERE("order[%d]", (int)k), "is not ascending within its colour");
            colour[i] = c + 1;
        }
    }
    return PL_OK;
}

static pl_status check_neighbours(const pl_model *model, const int32_t *colour, pl_error *error)
{
    for (int e = 0; e < model->edge_count; e++)
        PL_CHECK(colour[model->edges[2 * (size_t)e]] != colour[model->edges[2 * (size_t)e + 1]],
                 PL_ERROR_ARGUMENT, error, PL_WHERE("edges[%d]", e),
                 "joins two particles of one colour");
    return PL_OK;
}

pl_status pl_graph_check_colours(pl_model *model, pl_error *error)
{
    PL_CHECK(model->colour_count > 0 && model->colour_start[0] == 0 &&
                 model->colour_start[model->colour_count] == model->particle_count,
             PL_ERROR_ARGUMENT, error, "colour_start", "does not cover the particles");
    int32_t *colour = PL_NEW(&model->memory, int32_t, model->particle_count);
    if (!colour)
        return no_memory(model, error);
    pl_status status = check_order(model, colour, error);
    if (status == PL_OK)
        status = check_neighbours(model, colour, error);
    pl_memory_free(&model->memory, colour);
    return status;
}
