/* The programs are put together from the texts in *.glsl, which the build turns into strings
   (pl_glsl_<name>). */
#include "draw/shaders.h"

#include <epoxy/gl.h>
#include <stdio.h>

extern const char pl_glsl_scene[], pl_glsl_geometry_vertex[], pl_glsl_geometry_fragment[],
    pl_glsl_depth_vertex[], pl_glsl_depth_fragment[], pl_glsl_screen_vertex[],
    pl_glsl_open_fragment[], pl_glsl_light[], pl_glsl_develop_fragment[];

enum { PARTS = 3 };

static GLuint compile(GLenum kind, const char *const parts[PARTS], pl_error *error)
{
    GLuint shader = glCreateShader(kind);
    const char *given[PARTS];
    for (int i = 0; i < PARTS; i++)
        given[i] = parts[i] ? parts[i] : "";
    glShaderSource(shader, PARTS, given, NULL);
    glCompileShader(shader);
    GLint good = GL_FALSE;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (good)
        return shader;
    char log[200] = "";
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    pl_fail(error, PL_ERROR_STATE, NULL, "the graphics driver refuses a shader: %s", log);
    glDeleteShader(shader);
    return 0;
}

static GLuint link(GLuint vertex, GLuint fragment, pl_error *error)
{
    GLuint program = glCreateProgram();
    glAttachShader(program, vertex);
    glAttachShader(program, fragment);
    glLinkProgram(program);
    GLint good = GL_FALSE;
    glGetProgramiv(program, GL_LINK_STATUS, &good);
    if (good)
        return program;
    char log[200] = "";
    glGetProgramInfoLog(program, sizeof log, NULL, log);
    pl_fail(error, PL_ERROR_STATE, NULL, "the graphics driver refuses a program: %s", log);
    glDeleteProgram(program);
    return 0;
}

static void set_up(GLuint program)
{
    glUseProgram(program);
    GLuint block = glGetUniformBlockIndex(program, "Scene");
    if (block != GL_INVALID_INDEX)
        glUniformBlockBinding(program, block, 0);
    static const char *const maps[PL_UNIT_COUNT] = {"shadow_map", "below_map",  "open_map",
                                                    "paint_map",  "facing_map", "depth_map"};
    for (int unit = 0; unit < PL_UNIT_COUNT; unit++)
        glUniform1i(glGetUniformLocation(program, maps[unit]), unit);
    glUseProgram(0);
}

static pl_status build(const char *vertex_text, const char *fragment_text, const char *more,
                       unsigned *program, pl_error *error)
{
    const char *const vertex_parts[PARTS] = {pl_glsl_scene, vertex_text};
    const char *const fragment_parts[PARTS] = {pl_glsl_scene, fragment_text, more};
    GLuint vertex = compile(GL_VERTEX_SHADER, vertex_parts, error);
    GLuint fragment = vertex ? compile(GL_FRAGMENT_SHADER, fragment_parts, error) : 0;
    *program = fragment ? link(vertex, fragment, error) : 0;
    glDeleteShader(vertex);
    glDeleteShader(fragment);
    if (!*program)
        return PL_ERROR_STATE;
    set_up(*program);
    return PL_OK;
}

pl_status pl_shaders_create(pl_shaders *shaders, pl_error *error)
{
    *shaders = (pl_shaders){0};
    pl_status status =
        build(pl_glsl_geometry_vertex, pl_glsl_geometry_fragment, NULL, &shaders->geometry, error);
    if (status == PL_OK)
        status = build(pl_glsl_depth_vertex, pl_glsl_depth_fragment, NULL, &shaders->depth, error);
    if (status == PL_OK)
        status = build(pl_glsl_screen_vertex, pl_glsl_open_fragment, NULL, &shaders->open, error);
    if (status == PL_OK)
        status = build(pl_glsl_screen_vertex, pl_glsl_light, pl_glsl_develop_fragment,
                       &shaders->develop, error);
    if (status != PL_OK)
        pl_shaders_destroy(shaders);
    return status;
}

void pl_shaders_destroy(pl_shaders *shaders)
{
    const unsigned all[] = {shaders->geometry, shaders->depth, shaders->open, shaders->develop};
    for (int i = 0; i < 4; i++)
        glDeleteProgram(all[i]);
    *shaders = (pl_shaders){0};
}
