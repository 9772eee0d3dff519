#include "contact/joint.h"

#include "contact/contact.h"
#include "math/quat.h"

pl_status pl_contact_reserve_joints(pl_contact *contact, int count)
{
    pl_contact_joints *all = &contact->joints;
    if (count <= all->capacity)
        return PL_OK;
    int capacity = count + count / 2 + 8;
    pl_joint *joints = PL_NEW(contact->memory, pl_joint, capacity);
    if (!joints)
        return PL_ERROR_MEMORY;
    pl_memory_free(contact->memory, all->joints); /* made anew in every sub-step */
    *all = (pl_contact_joints){.capacity = capacity, .joints = joints};
    return PL_OK;
}

void pl_contact_free_joints(pl_contact *contact)
{
    pl_memory_free(contact->memory, contact->joints.joints);
    contact->joints = (pl_contact_joints){0};
}

/* ---- Touches between what is joined ---------------------------------------------------------- */

static bool carries(const pl_joint_end *end, int32_t place)
{
    for (int j = 0; j < end->count; j++)
        if (end->place[j] == place)
            return true;
    return false;
}

static bool are_joined(const pl_contact_joints *all, int32_t a, int32_t b)
{
    for (int i = 0; i < all->count; i++) {
        const pl_joint *joint = all->joints + i;
        if ((carries(&joint->a, a) && carries(&joint->b, b)) ||
            (carries(&joint->a, b) && carries(&joint->b, a)))
            return true;
    }
    return false;
}

static void mark(pl_contact *contact, uint8_t value)
{
    for (int i = 0; i < contact->joints.count; i++) {
        const pl_joint *joint = contact->joints.joints + i;
        for (int j = 0; joint->b.count && j < joint->a.count; j++)
            contact->marked[joint->a.place[j] / PL_CLUMP] = value;
        for (int j = 0; j < joint->b.count; j++)
            contact->marked[joint->b.place[j] / PL_CLUMP] = value;
    }
}

/* Only touches between clumps that carry a joint are looked at twice. */
void pl_contact_excuse_joined(pl_contact *contact)
{
    const uint8_t *joined = contact->marked;
    if (!contact->joints.count)
        return;
    mark(contact, 1);
    for (int block = 0; block < contact->block_count; block++) {
        const pl_segment *s = contact->touch_segments + block;
        pl_touch *touches = contact->buffers[s->worker].touches + s->first;
        for (int i = 0; i < s->count; i++) {
            pl_touch *t = touches + i;
            if (joined[t->a / PL_CLUMP] && joined[t->b / PL_CLUMP] &&
                are_joined(&contact->joints, t->a, t->b)) {
                t->depth = -1e30f;
                t->recover = 0;
            }
        }
    }
    mark(contact, 0);
}

/* ---- Resolving ------------------------------------------------------------------------------- */

/* Σ w² / m: how far the point moves by one kg m. */
static double yield_of(const pl_contact *contact, const pl_joint_end *end)
{
    double sum = 0;
    for (int j = 0; j < end->count; j++)
        sum += end->weight[j] * end->weight[j] * (double)contact->primitives[end->place[j]].yield;
    return sum;
}

/* Σ w · what was moved. */
static pl_vec3 moved(float (*by)[4], const pl_joint_end *end)
{
    pl_vec3 sum = {0, 0, 0};
    for (int j = 0; j < end->count; j++)
        sum = pl_v3_add_scaled(sum, end->weight[j], pl_v3_from_floats(by[end->place[j]]));
    return sum;
}

static void move(pl_contact *contact, float (*by)[4], const pl_joint_end *end, pl_vec3 pull)
{
    for (int j = 0; j < end->count; j++) {
        int32_t place = end->place[j];
        double scale = end->weight[j] * (double)contact->primitives[place].yield;
        by[place][0] += (float)(scale * pull.x);
        by[place][1] += (float)(scale * pull.y);
        by[place][2] += (float)(scale * pull.z);
        pl_contact_note_touched(contact, place, 1);
    }
}

static pl_vec3 vector(const double v[3])
{
    return (pl_vec3){v[0], v[1], v[2]};
}

static void add(double to[3], double scale, pl_vec3 v)
{
    to[0] += scale * v.x, to[1] += scale * v.y, to[2] += scale * v.z;
}

/* The collider's inverse inertia in the world: R I̅⁻¹ Rᵀ. */
static pl_mat3 easing(const pl_contact_collider *c)
{
    pl_mat3 r;
    __builtin_memcpy(r.m, c->turn_to, sizeof r.m);
    pl_mat3 own = pl_m3_diagonal(c->inertia[0], c->inertia[1], c->inertia[2]);
    return pl_m3_mul(pl_m3_mul(r, own), pl_m3_transpose(r));
}

/* K = (Σ w²/m + 1/M) − [r]× I⁻¹ [r]×: what the gap changes by one kg m of pull. */
static bool pull_of(double yield, const pl_contact_collider *c, const double arm[3], pl_vec3 gap,
                    pl_vec3 *pull)
{
    pl_mat3 k = pl_m3_diagonal(yield, yield, yield), inverse;
    if (!(yield > 0))
        return false;
    if (!c || !(c->yield > 0)) {
        *pull = pl_v3_scale(gap, 1 / yield);
        return true;
    }
    pl_mat3 r = pl_m3_cross(vector(arm));
    k = pl_m3_sub(k, pl_m3_mul(pl_m3_mul(r, easing(c)), r));
    if (!pl_m3_inverse(k, &inverse))
        return false;
    *pull = pl_m3_mul_v3(inverse, gap);
    return true;
}

/* A collider that does not give way receives the impulse all the same. */
static void pull_collider(const pl_contact *contact, pl_contact_collider *c, const double arm[3],
                          pl_vec3 pull)
{
    pl_vec3 torque = pl_v3_cross(vector(arm), pull);
    add(c->impulse, -1 / contact->h, pull);
    add(c->torque, -1 / contact->h, torque);
    if (!(c->yield > 0))
        return;
    add(c->given, -c->yield, pull);
    add(c->spun, -1, pl_m3_mul_v3(easing(c), torque));
}

static void close_gap(pl_contact *contact, pl_joint *joint, pl_contact_collider *c, double yield)
{
    pl_vec3 pull, gap = vector(joint->gap);
    gap = pl_v3_add(
        gap, pl_v3_sub(moved(contact->change, &joint->b), moved(contact->change, &joint->a)));
    if (c) {
        gap = pl_v3_add(gap, vector(c->given));
        gap = pl_v3_add(gap, pl_v3_cross(vector(c->spun), vector(joint->arm)));
    }
    if (!pull_of(yield, c, joint->arm, gap, &pull))
        return;
    move(contact, contact->change, &joint->a, pull);
    move(contact, contact->change, &joint->b, pl_v3_neg(pull));
    if (c)
        pull_collider(contact, c, joint->arm, pull);
    add(joint->pull, 1, pull);
}

/* What was open before is closed slowly and gives no speed; a collider only moves along. */
static void recover(pl_contact *contact, pl_joint *joint, pl_contact_collider *c, double yield)
{
    pl_vec3 gap = vector(joint->recover);
    gap = pl_v3_add(gap,
                    pl_v3_sub(moved(contact->shift, &joint->b), moved(contact->shift, &joint->a)));
    if (c)
        gap = pl_v3_add(gap, vector(c->shifted));
    if (!(yield > 0) || pl_v3_length2(vector(joint->recover)) == 0)
        return;
    pl_vec3 pull = pl_v3_scale(gap, 1 / yield);
    move(contact, contact->shift, &joint->a, pull);
    move(contact, contact->shift, &joint->b, pl_v3_neg(pull));
    if (c)
        add(c->shifted, -c->yield, pull);
}

void pl_contact_resolve_joints(pl_contact *contact)
{
    for (int i = 0; i < contact->joints.count; i++) {
        pl_joint *joint = contact->joints.joints + i;
        pl_contact_collider *c =
            joint->collider >= 0 ? contact->against.colliders + joint->collider : NULL;
        double yield =
            yield_of(contact, &joint->a) + yield_of(contact, &joint->b) + (c ? c->yield : 0);
        close_gap(contact, joint, c, yield);
        recover(contact, joint, c, yield);
    }
}
