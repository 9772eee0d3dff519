/* Colours that go well together on a warm, pale ground. */
#include "draw/draw.h"
#include "math/elementary.h"

static float linear(uint32_t byte)
{
    double c = (double)byte / 255;
    return (float)(c <= 0.04045 ? c / 12.92 : pl_pow((c + 0.055) / 1.055, 2.4));
}

pl_paint pl_paint_from_srgb(uint32_t rgb, float roughness)
{
    pl_paint paint = {
        {linear(rgb >> 16 & 255), linear(rgb >> 8 & 255), linear(rgb & 255), 1}, roughness, 0};
    return paint;
}

pl_paint pl_palette(int index)
{
    /* coral, teal, amber, slate blue, sage, plum, terracotta, sea green, rose, sand */
    static const uint32_t colours[] = {0xE5734F, 0x2F9C95, 0xEDB04A, 0x5A7FBF, 0x8AB06E,
                                       0xA0699E, 0xC65D3B, 0x4FB3A0, 0xDD7F8E, 0xCDA875};
    enum { COUNT = sizeof colours / sizeof *colours };
    return pl_paint_from_srgb(colours[(unsigned)index % COUNT], 0.5f);
}
