/* Deterministic elementary functions: argument reduction with constants in two or three pieces,
   then near-minimax polynomials. Numbers called "pair" are unevaluated sums high + low, which
   double the precision where a later step would magnify the error (Dekker 1971); no fused
   multiply-add is used, so that machines with and without it agree. */
#include "math/elementary.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define PI_QUARTER 0x1.921fb54442d18p-1
#define PI_QUARTER_LOW 0x1.1a62633145c07p-55

typedef struct pair {
    double high, low;
} pair;

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^n for −1022 <= n <= 1023. */
static double power_of_two(int n)
{
    return double_of((uint64_t)(n + 1023) << 52);
}

/* |a| >= |b|, or a = 0. */
static pair sum_ordered(double a, double b)
{
    double s = a + b;
    return (pair){s, b - (s - a)};
}

static pair sum(double a, double b)
{
    double s = a + b, t = s - a;
    return (pair){s, (a - (s - t)) + (b - t)};
}

/* Both factors cut into halves of 26 bits; no factor may exceed 2^990. */
static pair product(double a, double b)
{
    double ca = a * 0x1.0000002p27, cb = b * 0x1.0000002p27;
    double ah = ca - (ca - a), bh = cb - (cb - b), al = a - ah, bl = b - bh;
    double p = a * b;
    return (pair){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static pair product_pair(pair a, pair b)
{
    pair p = product(a.high, b.high);
    return sum_ordered(p.high, p.low + (a.high * b.low + a.low * b.high));
}

static double polynomial(const double *a, int count, double x)
{
    double p = a[0];
    for (int i = 1; i < count; i++)
        p = p * x + a[i];
    return p;
}

#define POLYNOMIAL(a, x) polynomial((a), (int)(sizeof(a) / sizeof(a)[0]), (x))

/* ---- Sine and cosine ------------------------------------------------------------------------- */

/* For |r| <= π/4, the argument being the pair r. */
static double sine(pair r)
{
    static const double a[] = {-0x1.ab16f5caa198ap-41, 0x1.61217d9252c03p-33,
                               -0x1.ae645410e937bp-26, 0x1.71de3a545f836p-19,
                               -0x1.a01a01a01992fp-13, 0x1.1111111111110p-7,
                               -0x1.5555555555555p-3};
    double u = r.high * r.high;
    return r.high + (r.high * u * POLYNOMIAL(a, u) + r.low * (1 - 0.5 * u));
}

static double cosine(pair r)
{
    static const double a[] = {-0x1.907cd8ff5ede7p-37, 0x1.1eeb67d026ec6p-29,
                               -0x1.27e4fa16cc2d1p-22, 0x1.a01a019f4ddfdp-16,
                               -0x1.6c16c16c16963p-10, 0x1.5555555555555p-5};
    double u = r.high * r.high, half = 0.5 * u, w = 1 - half;
    return w + (((1 - w) - half) + (u * u * POLYNOMIAL(a, u) - r.high * r.low));
}

/* 2/π in binary, after 64 zeros: enough for the largest double. */
static const uint64_t two_over_pi[22] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
    0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
    0xf0cfbc209af4361d, 0xa9e391615ee61b08,
};

static uint64_t bits_from(const uint64_t *words, int at)
{
    int word = at / 64, shift = at % 64;
    return shift ? words[word] << shift | words[word + 1] >> (64 - shift) : words[word];
}

/* Payne and Hanek (1983): of x = m 2^e only those bits of 2/π matter that give neither a multiple
   of 4 nor something too small; the product modulo 4 is exact in integers. */
static pair reduce_large(double x, int *quadrant)
{
    uint64_t bits = bits_of(x), m = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    int at = (int)(bits >> 52 & 0x7ff) - 1075 - 2 + 64;
    unsigned __int128 low = (unsigned __int128)m * bits_from(two_over_pi, at + 128);
    unsigned __int128 middle =
        (unsigned __int128)m * bits_from(two_over_pi, at + 64) + (uint64_t)(low >> 64);
    uint64_t top = m * bits_from(two_over_pi, at) + (uint64_t)(middle >> 64);
    /* top is the word with the two integer bits; a fraction of one half or more counts from the
       next quadrant back. */
    unsigned __int128 fraction = (unsigned __int128)(top << 2 | (uint64_t)middle >> 62) << 64 |
                                 ((uint64_t)middle << 2 | (uint64_t)low >> 62);
    int negative = (int)(fraction >> 127);
    *quadrant = (int)(top >> 62) + negative;
    if (negative)
        fraction = -fraction;
    int zeros = 0;
    while (zeros < 127 && !(fraction >> 127))
        fraction <<= 1, zeros++;
    double high = (double)(uint64_t)(fraction >> 75) * power_of_two(-53 - zeros);
    double low_part = (double)(uint64_t)(fraction >> 11) * power_of_two(-117 - zeros);
    pair r = product_pair((pair){high, low_part}, (pair){2 * PI_QUARTER, 2 * PI_QUARTER_LOW});
    return negative ? (pair){-r.high, -r.low} : r;
}

/* x >= 0 to r = x − k π/2 with |r| <= π/4 and k mod 4. */
static pair reduce(double x, int *quadrant)
{
    if (x <= PI_QUARTER) {
        *quadrant = 0;
        return (pair){x, 0};
    }
    if (x > 0x1p20)
        return reduce_large(x, quadrant);
    double k = (x * 0x1.45f306dc9c883p-1 + 0x1.8p52) - 0x1.8p52;
    *quadrant = (int)k & 3;
    /* The first two pieces of π/2 have 33 bits, so that their products with k are exact. */
    pair r = sum(x - k * 0x1.921fb544p0, -(k * 0x1.0b4611a6p-34));
    return sum_ordered(r.high, r.low - k * 0x1.3198a2e037073p-69);
}

double pl_sin(double x)
{
    int quadrant;
    if (!(fabs(x) < INFINITY))
        return x - x;
    if (fabs(x) < 0x1p-27)
        return x;
    pair r = reduce(fabs(x), &quadrant);
    double value = quadrant & 1 ? cosine(r) : sine(r);
    return ((quadrant & 2) != 0) != (x < 0) ? -value : value;
}

double pl_cos(double x)
{
    int quadrant;
    if (!(fabs(x) < INFINITY))
        return x - x;
    pair r = reduce(fabs(x), &quadrant);
    double value = quadrant & 1 ? sine(r) : cosine(r);
    return (quadrant + 1) & 2 ? -value : value;
}

/* ---- Exponential, logarithm, power ----------------------------------------------------------- */

/* exp(x.high + x.low) for |x.high| < 746: with k the integer nearest to x / ln 2 and r = x − k ln
   2, exp = 2^k (1 + r + r² p(r)). The power is applied in two factors, so that subnormal results
   are rounded once. */
static double exp_pair(pair x)
{
    static const double a[] = {0x1.61c0041f196cep-33, 0x1.1f7f7bd858cc6p-29, 0x1.ae642c522f57ep-26,
                               0x1.27e4d3ebbbbb4p-22, 0x1.71de3a5ab0d80p-19, 0x1.a01a01a9faa85p-16,
                               0x1.a01a01a019696p-13, 0x1.6c16c16c15a3fp-10, 0x1.1111111111111p-7,
                               0x1.5555555555557p-5,  0x1.5555555555555p-3,  0x1.0p-1};
    double k = (x.high * 0x1.71547652b82fep0 + 0x1.8p52) - 0x1.8p52;
    pair r = sum(x.high - k * 0x1.62e42feep-1, x.low - k * 0x1.a39ef35793c76p-33);
    double value = 1 + (r.high + (r.high * r.high * POLYNOMIAL(a, r.high) + r.low));
    int n = (int)k, half = n / 2;
    return value * power_of_two(half) * power_of_two(n - half);
}

double pl_exp(double x)
{
    if (x != x)
        return x;
    if (x > 709.8)
        return INFINITY;
    if (x < -745.2)
        return 0;
    return exp_pair((pair){x, 0});
}

/* log of a positive finite x: x = 2^k m with √½ <= m < √2, s = (m − 1) / (m + 1), log m = 2 atanh s
   = 2 s + ⅔ s³ + …; the first two terms as pairs. */
static pair log_pair(double x)
{
    static const double a[] = {0x1.e03a7acf07f85p-5, 0x1.df7ba1f4809c3p-5, 0x1.1118cd67251c5p-4,
                               0x1.3b1395b82701ep-4, 0x1.745d177ad436ap-4, 0x1.c71c71c6ea5acp-4,
                               0x1.2492492492522p-3, 0x1.999999999999ap-3};
    int k = 0;
    if (x < 0x1p-1022)
        x *= 0x1p54, k = -54;
    uint64_t bits = bits_of(x), mantissa = bits & ((UINT64_C(1) << 52) - 1);
    int above = mantissa >= UINT64_C(0x6a09e667f3bcd); /* m of √2 or more is halved */
    k += (int)(bits >> 52) - 1023 + above;
    double m = double_of(mantissa | (uint64_t)(1023 - above) << 52), f = m - 1;

    pair below = sum(m, 1), s;
    s.high = f / below.high;
    pair back = product(s.high, below.high);
    s.low = (((f - back.high) - back.low) - s.high * below.low) / below.high;
    pair square = product_pair(s, s), cube = product_pair(square, s);
    pair third = product_pair(cube, (pair){0x1.5555555555555p-1, 0x1.5555555555555p-55});
    double rest = 2 * cube.high * square.high * POLYNOMIAL(a, square.high);

    pair first = sum(k * 0x1.62e42feep-1, 2 * s.high);
    pair second = sum(first.high, third.high);
    double low =
        (second.low + first.low) + (2 * s.low + third.low + rest + k * 0x1.a39ef35793c76p-33);
    return sum_ordered(second.high, low);
}

double pl_log(double x)
{
    if (x != x || x == INFINITY)
        return x;
    if (x == 0)
        return -INFINITY;
    if (x < 0)
        return (double)NAN;
    return log_pair(x).high;
}

/* 0: not an integer, 1: odd, 2: even. */
static int parity(double y)
{
    double a = fabs(y);
    if (a >= 0x1p53)
        return 2;
    if (a != floor(a))
        return 0;
    return a < 1 ? 2 : ((int64_t)a & 1 ? 1 : 2);
}

/* x is 0 or infinite, y not 0. */
static double pow_of_limit(double x, double y)
{
    int to_zero = (x == 0) == (y > 0);
    double value = to_zero ? 0 : INFINITY;
    return signbit(x) && parity(y) == 1 ? -value : value;
}

double pl_pow(double x, double y)
{
    if (y == 0 || x == 1)
        return 1;
    if (x != x || y != y)
        return x + y;
    if (fabs(y) == INFINITY) {
        double a = fabs(x);
        return a == 1 ? 1 : ((a > 1) == (y > 0) ? INFINITY : 0);
    }
    if (x == 0 || fabs(x) == INFINITY)
        return pow_of_limit(x, y);
    int kind = parity(y);
    if (x < 0 && !kind)
        return (double)NAN;
    double sign = x < 0 && kind == 1 ? -1 : 1;
    pair l = log_pair(fabs(x));
    if (l.high == 0)
        return sign;
    /* Far outside the range of doubles, decided before the exact product could overflow. */
    double estimate = l.high * y;
    if (estimate > 710)
        return sign * INFINITY;
    if (estimate < -746)
        return sign * 0.0;
    pair p = product(l.high, y);
    p.low += l.low * y;
    return sign * exp_pair(sum_ordered(p.high, p.low));
}

/* ---- Arc functions --------------------------------------------------------------------------- */

/* atan(y / x) as a pair, for 0 <= y <= x, x > 0, both far from overflow. Above tan(π/8) it is
   π/4 + atan((y − x) / (y + x)). */
static pair atan_of_ratio(double y, double x)
{
    static const double a[] = {0x1.0acd9e91a5a35p-6,  -0x1.1b311bb48c215p-5, 0x1.74dccfb93fff0p-5,
                               -0x1.ac7a5a79b3f26p-5, 0x1.e19a0bfa3eef9p-5,  -0x1.110e87b4357d2p-4,
                               0x1.3b1392d519db1p-4,  -0x1.745d165dc9713p-4, 0x1.c71c71c303dbbp-4,
                               -0x1.249249248d7dcp-3, 0x1.9999999999953p-3,  -0x1.5555555555555p-2};
    int above = y > 0.41421356237309503 * x;
    pair over = above ? sum(y, -x) : (pair){y, 0}, below = above ? sum(y, x) : (pair){x, 0};
    double t = over.high / below.high, low = 0;
    if (y > 0x1p-900) { /* smaller ones would underflow, and are exact enough */
        pair back = product(t, below.high);
        low = (((over.high - back.high) - back.low) + (over.low - t * below.low)) / below.high;
    }
    double u = t * t;
    low = t * u * POLYNOMIAL(a, u) + low * (1 - u);
    if (!above)
        return sum_ordered(t, low);
    pair high = sum_ordered(PI_QUARTER, t);
    return sum_ordered(high.high, high.low + (low + PI_QUARTER_LOW));
}

double pl_atan2(double y, double x)
{
    if (x != x || y != y)
        return x + y;
    double ay = fabs(y), ax = fabs(x);
    if (ay == INFINITY || ax == INFINITY) /* directions of the octants */
        ay = ay == INFINITY, ax = ax == INFINITY;
    if (ay > 0x1p900 || ax > 0x1p900)
        ay *= 0x1p-200, ax *= 0x1p-200;
    else if (ay < 0x1p-800 && ax < 0x1p-800)
        ay *= 0x1p200, ax *= 0x1p200;
    pair r = {0, 0};
    if (ay > ax) { /* π/2 − atan(x / y) */
        pair a = atan_of_ratio(ax, ay), d = sum_ordered(2 * PI_QUARTER, -a.high);
        r = sum_ordered(d.high, d.low + (2 * PI_QUARTER_LOW - a.low));
    } else if (ax > 0) {
        r = atan_of_ratio(ay, ax);
    }
    double value = signbit(x) ? 4 * PI_QUARTER - (r.high - (4 * PI_QUARTER_LOW - r.low)) : r.high;
    return signbit(y) ? -value : value;
}

/* Half the angle has the tangent √((1 − x) / (1 + x)): no cancellation near either end. */
double pl_acos(double x)
{
    if (!(fabs(x) <= 1))
        return (double)NAN;
    return 2 * pl_atan2(sqrt(1 - x), sqrt(1 + x));
}
