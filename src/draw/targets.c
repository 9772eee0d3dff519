/* Framebuffers: samples of what is solid, the picture, two maps of depth, and the ground's view of
   the sky. Samples are the pixels of a larger picture, `side` times as wide and high: a processor
   draws many small triangles three times as fast that way as with the samples of a pixel kept
   together (multisampling). */
#include "draw/draw_parts.h"

enum { TILE = 4096, MOST_SIDE = 4 };

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static bool is_complete(void)
{
    return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

static bool make_samples(pl_draw_targets *t)
{
    static const struct {
        int unit;
        GLenum format, data, type, place;
    } parts[] = {{PL_UNIT_PAINT, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, GL_COLOR_ATTACHMENT0},
                 {PL_UNIT_FACING, GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_BYTE, GL_COLOR_ATTACHMENT1},
                 {PL_UNIT_DEPTH, GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT,
                  GL_DEPTH_ATTACHMENT}};
    static const GLenum places[] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1};
    glBindFramebuffer(GL_FRAMEBUFFER, t->framebuffers[PL_TARGET_SAMPLES]);
    for (int i = 0; i < 3; i++) {
        GLuint map = t->maps[parts[i].unit];
        glActiveTexture(GL_TEXTURE0 + (GLenum)parts[i].unit);
        glBindTexture(GL_TEXTURE_2D, map);
        glTexImage2D(GL_TEXTURE_2D, 0, (GLint)parts[i].format, t->width * t->side,
                     t->height * t->side, 0, parts[i].data, parts[i].type, NULL);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        glFramebufferTexture2D(GL_FRAMEBUFFER, parts[i].place, GL_TEXTURE_2D, map, 0);
    }
    glDrawBuffers(2, places);
    return is_complete();
}

static bool make_picture(pl_draw_targets *t)
{
    glBindFramebuffer(GL_FRAMEBUFFER, t->framebuffers[PL_TARGET_PICTURE]);
    glBindRenderbuffer(GL_RENDERBUFFER, t->picture);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, t->width, t->height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, t->picture);
    return is_complete();
}

static void make_texture(GLuint texture, int unit, GLenum format, GLenum data, GLenum type,
                         int size)
{
    glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, size, size, 0, data, type, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
}

/* `compare`: the texture answers comparisons, averaged over four texels, instead of depths. */
static bool make_depth(pl_draw_targets *t, int target, int unit, int size, bool compare)
{
    make_texture(t->maps[unit], unit, GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT,
                 size);
    if (compare)
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glBindFramebuffer(GL_FRAMEBUFFER, t->framebuffers[target]);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, t->maps[unit], 0);
    glDrawBuffer(GL_NONE);
    glReadBuffer(GL_NONE);
    return is_complete();
}

static bool make_open(pl_draw_targets *t)
{
    make_texture(t->maps[PL_UNIT_OPEN], PL_UNIT_OPEN, GL_R8, GL_RED, GL_UNSIGNED_BYTE, PL_OPEN_MAP);
    glBindFramebuffer(GL_FRAMEBUFFER, t->framebuffers[PL_TARGET_OPEN]);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
                           t->maps[PL_UNIT_OPEN], 0);
    return is_complete();
}

pl_status pl_draw_targets_create(pl_draw_targets *t, int width, int height, int samples,
                                 pl_error *error)
{
    GLint largest = TILE;
    int side = 1;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest);
    while (side < MOST_SIDE && (side + 1) * (side + 1) <= samples)
        side++;
    int tile = smaller(TILE, largest) / side;
    *t = (pl_draw_targets){
        .width = smaller(width, tile), .height = smaller(height, tile), .side = side};
    glGenFramebuffers(5, t->framebuffers);
    glGenRenderbuffers(1, &t->picture);
    glGenTextures(PL_UNIT_COUNT, t->maps);
    bool good = make_samples(t) && make_picture(t) &&
                make_depth(t, PL_TARGET_SHADOW, PL_UNIT_SHADOW, PL_SHADOW_MAP, true) &&
                make_depth(t, PL_TARGET_BELOW, PL_UNIT_BELOW, PL_BELOW_MAP, false) && make_open(t);
    bool memory = glGetError() != GL_OUT_OF_MEMORY;
    if (good && memory)
        return PL_OK;
    pl_draw_targets_destroy(t);
    return pl_fail(error, memory ? PL_ERROR_STATE : PL_ERROR_MEMORY, NULL,
                   memory ? "the graphics driver offers no framebuffer to draw pictures in"
                          : "not enough memory for a picture of %d x %d",
                   width, height);
}

void pl_draw_targets_destroy(pl_draw_targets *t)
{
    glDeleteFramebuffers(5, t->framebuffers);
    glDeleteRenderbuffers(1, &t->picture);
    glDeleteTextures(PL_UNIT_COUNT, t->maps);
    *t = (pl_draw_targets){0};
}
