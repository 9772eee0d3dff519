/* The touches of stiff bodies, as many side by side as there are lanes: what each side gets of an
   impulse along and across the normal (firm.c has the formulas), once per sub-step. */
#include "contact/contact_lanes.h"
#include "contact/firm_parts.h"
#include "math/lanes.h"

PL_LANES_INLINE vf dot(const vf a[3], const vf b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

PL_LANES_INLINE void cross(const vf a[3], const vf b[3], vf out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* ---- Both sides ------------------------------------------------------------------------------ */

/* As they lie in memory: a particle; what follows `columns` of its whole. */
typedef struct vparticle {
    vf x[3], moved[3], turned[3], shape[6], yield;
} vparticle;

typedef struct vease {
    vf columns[3][4], centre[4];
} vease;

_Static_assert(sizeof(vparticle) == sizeof(pl_primitive) * PL_W, "one vector for each number");
_Static_assert(offsetof(pl_whole, centre) == offsetof(pl_whole, columns) + 3 * sizeof(pl_quad),
               "they lie side by side");

typedef struct vside {
    vparticle particle;
    vease ease;
    vf yield, mass, kappa; /* of the whole; of the particle; what holds it */
    vf r[3], grip[3]; /* from the centre of the whole: where it is pushed, and where it is rubbed */
    vi whole;         /* it is one */
} vside;

static float kappa_of(const pl_contact *contact, int32_t place)
{
    const pl_contact_body *body = contact->bodies + contact->body_of[place / PL_CLUMP];
    int32_t i = body->clumps->particle[place - body->first_clump * PL_CLUMP];
    double kappa = body->lone ? body->firm : body->diagonal[i] / body->mass[i] - 1;
    return kappa > 0 ? (float)kappa : 0;
}

/* Of PL_W touches: wholes and particles of one side. */
typedef struct ends {
    int32_t whole[PL_W], place[PL_W];
} ends;

static void load_side(const pl_contact *contact, const ends *at, vside *s)
{
    const float *particles[PL_W], *eases[PL_W];
    float yield[PL_W] __attribute__((aligned(64))), mass[PL_W] __attribute__((aligned(64))),
        kappa[PL_W] __attribute__((aligned(64)));
    for (int lane = 0; lane < PL_W; lane++) {
        const pl_whole *w = contact->firm.wholes + at->whole[lane];
        int32_t place = at->place[lane];
        particles[lane] = contact->primitives[place].x;
        eases[lane] = (const float *)w->columns;
        yield[lane] = w->yield;
        mass[lane] = contact->mass[place];
        kappa[lane] = at->whole[lane] ? kappa_of(contact, place) : 0;
    }
    pl_lanes_gather(particles, sizeof(pl_primitive) / sizeof(float), (float *)&s->particle);
    pl_lanes_gather(eases, sizeof(vease) / sizeof(vf), (float *)&s->ease);
    s->yield = pl_load_f(yield);
    s->mass = pl_load_f(mass);
    s->kappa = pl_load_f(kappa);
    s->whole = s->yield > 0.0f;
    for (int k = 0; k < 3; k++)
        s->r[k] = s->particle.x[k] - s->ease.centre[k];
}

/* What it gets of an impulse along n, a unit vector, at r. Returns how far it yields there. */
static vf respond(const vside *s, const vf r[3], const vf n[3], vf lever[3], vf *spin, vf *give)
{
    vf arm[3], l[3], zero = pl_splat_f(0);
    cross(r, n, arm);
    for (int k = 0; k < 3; k++)
        l[k] = s->ease.columns[0][k] * arm[0] + s->ease.columns[1][k] * arm[1] +
               s->ease.columns[2][k] * arm[2];
    vf w = s->yield + dot(l, l), q = 1.0f - s->mass * w;
    q = pl_select_f(q > 0.0f, q, zero);
    vf stays = q / (s->kappa + q + 1e-30f);
    for (int k = 0; k < 3; k++)
        lever[k] = pl_select_f(s->whole, l[k], zero);
    *spin = pl_select_f(s->whole, 1.0f - stays, zero);
    *give = pl_select_f(s->whole, stays * s->particle.yield, s->particle.yield);
    return pl_select_f(s->whole, w * *spin + *give, *give);
}

/* In the order of pl_firm_row. */
typedef struct vrow {
    vf n[3], per, lever_a[3], missing, lever_b[3], give_b, spin_a, give_a, spin_b, by;
} vrow;

enum { ROW_VALUES = sizeof(vrow) / sizeof(vf) };

_Static_assert(sizeof(pl_firm_row) == ROW_VALUES * sizeof(float), "one vector for each number");

/* How far both sides yield along the rows: as in pl_firm_yields. */
typedef struct vyields {
    vf a[PL_FIRM_ROWS], b[PL_FIRM_ROWS], across[PL_FIRM_ROWS - 1];
} vyields;

_Static_assert(sizeof(vyields) == sizeof(pl_firm_yields) * PL_W, "one vector for each number");

static void make_row(const vside *a, const vside *b, const vf from[3], const vf to[3],
                     const vf n[3], vf missing, vrow *row, vf *of_a, vf *of_b)
{
    *of_a = respond(a, from, n, row->lever_a, &row->spin_a, &row->give_a);
    *of_b = respond(b, to, n, row->lever_b, &row->spin_b, &row->give_b);
    vf yield = *of_a + *of_b;
    row->per = pl_select_f(yield > 0.0f, 1.0f / yield, pl_splat_f(0));
    row->missing = missing;
    row->by = pl_splat_f(0);
    for (int k = 0; k < 3; k++)
        row->n[k] = n[k];
}

/* ---- Where they are pushed and rubbed -------------------------------------------------------- */

/* What a touch asks for: in the order in which it lies in memory. */
typedef struct vmeeting {
    vf n[3], depth, slide[3], friction, normal[3], recover, point[3], kick;
} vmeeting;

_Static_assert(sizeof(vmeeting) == sizeof(pl_firm_stop) * PL_W, "one vector for each number");

/* From the centre of a particle to the point of its surface whose normal is n. */
static void surface_arm(const vside *s, const vf n[3], vf out[3])
{
    const vf *b = s->particle.shape;
    vf bn[3] = {b[0] * n[0] + b[1] * n[1] + b[2] * n[2], b[1] * n[0] + b[3] * n[1] + b[4] * n[2],
                b[2] * n[0] + b[4] * n[1] + b[5] * n[2]};
    vf square = dot(n, bn), scale = 1.0f / pl_sqrt_f(square);
    for (int k = 0; k < 3; k++)
        out[k] = pl_select_f(square > 0.0f, bn[k] * scale, pl_splat_f(0));
}

/* Both are rubbed in the middle between their surfaces; those that met on their way each at its
   own: where they end they may have passed each other. */
static void find_grip(vside *a, vside *b, const vf base[3], const vf normal[3], vi passing)
{
    vf arm_a[3], arm_b[3];
    surface_arm(a, normal, arm_a);
    surface_arm(b, normal, arm_b);
    for (int k = 0; k < 3; k++) {
        vf at = a->particle.x[k] + arm_a[k], other = b->particle.x[k] - arm_b[k];
        vf middle = (at + (other + base[k])) * 0.5f;
        a->grip[k] = pl_select_f(passing, at, middle) - a->ease.centre[k];
        b->grip[k] = pl_select_f(passing, other, middle - base[k]) - b->ease.centre[k];
    }
}

/* The square of the sine from which on n is not the line of centres. */
#define ASKEW 1e-4f

/* Who moves by particles is pushed and rubbed at the centre of one: the other there as well, or
   together they would begin to turn. Pairs deep in each other are parted along a line that is not
   that of their centres: then both are pushed in the middle between these. What is fixed does not
   begin to turn, whatever is done to it. What met on its way is pushed at its own particle. */
static void find_common(vside *a, vside *b, const vf base[3], const vf n[3], vi passing)
{
    vf between[3], across[3], other[3];
    vi fixed =
        (~a->whole & ~(a->particle.yield > 0.0f)) | (~b->whole & ~(b->particle.yield > 0.0f));
    vi mixed = (~a->whole | ~b->whole) & ~fixed & ~passing;
    for (int k = 0; k < 3; k++) {
        other[k] = b->particle.x[k] + base[k];
        between[k] = other[k] - a->particle.x[k];
    }
    cross(between, n, across);
    vi askew = (dot(across, across) > ASKEW * dot(between, between)) & ~fixed & ~passing;
    for (int k = 0; k < 3; k++) {
        vf at = a->particle.x[k], single = pl_select_f(a->whole, other[k], at);
        vf common = pl_select_f(mixed, single, (at + other[k]) * 0.5f);
        vf from = common - a->ease.centre[k], to = common - base[k] - b->ease.centre[k];
        a->r[k] = pl_select_f(mixed | askew, from, a->r[k]);
        b->r[k] = pl_select_f(mixed | askew, to, b->r[k]);
        a->grip[k] = pl_select_f(mixed, from, a->grip[k]);
        b->grip[k] = pl_select_f(mixed, to, b->grip[k]);
    }
}

/* Two directions across a unit vector. */
static void find_across(const vf n[3], vf out[2][3])
{
    vf x = pl_abs_f(n[0]), y = pl_abs_f(n[1]), z = pl_abs_f(n[2]), one = pl_splat_f(1), t[3];
    vf zero = pl_splat_f(0);
    vi first = (x <= y) & (x <= z), second = ~first & (y <= z);
    vf least[3] = {pl_select_f(first, one, zero), pl_select_f(second, one, zero),
                   pl_select_f(first | second, zero, one)};
    cross(n, least, t);
    vf square = dot(t, t), scale = 1.0f / pl_sqrt_f(square);
    for (int k = 0; k < 3; k++)
        out[0][k] = pl_select_f(square > 0.0f, t[k] * scale, least[k]);
    cross(n, out[0], out[1]);
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

/* Touches side by side: all of them with colliders, or none. Behind the last, nobody meets
   nobody. */
typedef struct group {
    const pl_firm_touch *touch[PL_W]; /* NULL = nobody */
    const float *meeting[PL_W];
    ends a, b;
    int32_t passing[PL_W]; /* masks */
    bool stops;
} group;

static void take(const pl_contact *contact, int first, int end, group *g)
{
    static const pl_firm_stop nothing;
    g->stops = first >= contact->firm.first_stop;
    for (int lane = 0; lane < PL_W; lane++) {
        bool there = first + lane < end;
        const pl_firm_touch *t = contact->firm.touches + (there ? first + lane : first);
        g->touch[lane] = there ? t : NULL;
        g->passing[lane] = there && t->passing ? -1 : 0;
        g->meeting[lane] = !there     ? nothing.n
                           : g->stops ? pl_firm_stop_of(contact, t)->n
                                      : pl_firm_origin_of(contact, t)->touch->n;
        g->a.whole[lane] = there ? t->a : 0;
        g->b.whole[lane] = there ? t->b : 0;
        g->a.place[lane] = there ? t->place_a : pl_firm_nobody(contact);
        g->b.place[lane] = there ? t->place_b : pl_firm_nobody(contact);
    }
}

/* From the base of a's body to that of b's. */
static void load_bases(const pl_contact *contact, const group *g, vf out[3])
{
    float columns[3][PL_W] __attribute__((aligned(64))) = {{0}};
    for (int lane = 0; lane < PL_W; lane++) {
        if (g->stops || !g->touch[lane])
            continue;
        const double *from = contact->bodies[contact->body_of[g->a.place[lane] / PL_CLUMP]].base;
        const double *to = contact->bodies[contact->body_of[g->b.place[lane] / PL_CLUMP]].base;
        for (int k = 0; k < 3; k++)
            columns[k][lane] = (float)(to[k] - from[k]);
    }
    for (int k = 0; k < 3; k++)
        out[k] = pl_load_f(columns[k]);
}

/* How far an impulse along one row moves the two apart along the other. */
static vf coupling_of(const vside *a, const vside *b, const vrow *from, const vrow *to)
{
    vf ways = from->spin_a * a->yield + from->give_a + (from->spin_b * b->yield + from->give_b);
    return dot(from->n, to->n) * ways + from->spin_a * dot(from->lever_a, to->lever_a) +
           from->spin_b * dot(from->lever_b, to->lever_b);
}

/* What was kept of them. */
static void recall(const pl_contact *contact, const group *g, vrow rows[PL_FIRM_ROWS])
{
    float pushed[PL_W] __attribute__((aligned(64))) = {0};
    float rubbed[3][PL_W] __attribute__((aligned(64))) = {{0}};
    vf by[3], zero = pl_splat_f(0);
    for (int lane = 0; lane < PL_W; lane++) {
        const pl_kept_touch *kept = g->touch[lane] ? pl_firm_recall(contact, g->touch[lane]) : NULL;
        if (!kept)
            continue;
        pushed[lane] = kept->pushed;
        for (int k = 0; k < 3; k++)
            rubbed[k][lane] = kept->rubbed[k];
    }
    rows[0].by = pl_load_f(pushed);
    for (int k = 0; k < 3; k++)
        by[k] = pl_load_f(rubbed[k]);
    for (int r = 1; r < PL_FIRM_ROWS; r++)
        rows[r].by = pl_select_f(rows[0].by > 0.0f, dot(rows[r].n, by), zero);
}

static void store(const pl_contact *contact, const group *g, const vrow rows[PL_FIRM_ROWS],
                  const vyields *yields)
{
    pl_firm_row nowhere[PL_W];
    float *to[PL_W];
    for (int lane = 0; lane < PL_W; lane++) {
        const pl_firm_touch *t = g->touch[lane];
        to[lane] = t ? contact->firm.yields[t - contact->firm.touches].a : nowhere[lane].n;
    }
    pl_lanes_scatter((const float *)yields, sizeof *yields / sizeof(vf), to);
    for (int r = 0; r < PL_FIRM_ROWS; r++) {
        for (int lane = 0; lane < PL_W; lane++) {
            const pl_firm_touch *t = g->touch[lane];
            to[lane] = t ? pl_firm_rows_of(contact, t)[r].n : nowhere[lane].n;
        }
        pl_lanes_scatter((const float *)(rows + r), ROW_VALUES, to);
    }
}

static void fill(const pl_contact *contact, int first, int end)
{
    group g;
    vside a, b;
    vmeeting m;
    vrow rows[PL_FIRM_ROWS];
    vyields yields;
    vf base[3], ways[2][3], zero = pl_splat_f(0);
    vi passing;
    take(contact, first, end, &g);
    load_side(contact, &g.a, &a);
    load_side(contact, &g.b, &b);
    load_bases(contact, &g, base);
    pl_lanes_gather(g.meeting, PL_TOUCH_VALUES, (float *)&m);
    memcpy(&passing, g.passing, sizeof passing);
    find_grip(&a, &b, base, m.normal, passing);
    find_common(&a, &b, base, m.n, passing);
    for (int k = 0; k < 3 && g.stops; k++)
        b.r[k] = b.grip[k] = m.point[k] - b.ease.centre[k];
    make_row(&a, &b, a.r, b.r, m.n, m.depth, rows, yields.a, yields.b);
    find_across(m.normal, ways);
    for (int r = 1; r < PL_FIRM_ROWS; r++) {
        vf *values = (vf *)(rows + r);
        make_row(&a, &b, a.grip, b.grip, ways[r - 1], -dot(m.slide, ways[r - 1]), rows + r,
                 yields.a + r, yields.b + r);
        for (int k = 0; k < ROW_VALUES; k++)
            values[k] = pl_select_f(m.friction > 0.0f, values[k], zero);
        yields.across[r - 1] = coupling_of(&a, &b, rows, rows + r);
        yields.a[r] = pl_select_f(m.friction > 0.0f, yields.a[r], zero);
        yields.b[r] = pl_select_f(m.friction > 0.0f, yields.b[r], zero);
    }
    recall(contact, &g, rows);
    store(contact, &g, rows, &yields);
}

/* In groups that begin where they always do, whoever fills them. */
void PL_LANES(pl_firm_fill)(pl_contact *contact, int begin, int end)
{
    int stops = contact->firm.first_stop;
    for (int first = begin; first < end; first += PL_W) {
        int last = first < stops && stops < end ? stops : end;
        fill(contact, first, last);
        if (first < stops && first + PL_W > stops)
            first = stops - PL_W;
    }
    PL_LANES_LEAVE();
}
