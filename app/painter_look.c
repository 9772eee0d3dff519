/* The options that say how pictures look, from the command line or a scene's outputs. */
#ifdef PLIANT_HAVE_DRAW

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/suggest.h"
#include "painter_parts.h"

enum { DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720 };

static int read_size(const char *command, const char *text, app_painter *painter)
{
    int used = 0;
    char digits[2][100];
    painter->width = DEFAULT_WIDTH;
    painter->height = DEFAULT_HEIGHT;
    if (!text)
        return -1;
    if (sscanf(text, "%99[0-9]x%99[0-9]%n", digits[0], digits[1], &used) != 2 || text[used])
        return app_usage_error(command, "--size needs width and height, as in 1280x720, not \"%s\"",
                               text);
    double width = strtod(digits[0], NULL), height = strtod(digits[1], NULL);
    if (width < 1 || height < 1 || width > PL_DRAW_LARGEST || height > PL_DRAW_LARGEST)
        return app_usage_error(command, "--size must be from 1x1 to %dx%d, not %s", PL_DRAW_LARGEST,
                               PL_DRAW_LARGEST, text);
    painter->width = (int)width;
    painter->height = (int)height;
    return -1;
}

static int read_view(const char *command, const char *text, app_viewpoint *viewpoint)
{
    const char *best = NULL;
    char hint[96] = "";
    if (!text)
        return -1;
    viewpoint->has_view = true;
    if (pl_find_camera_view(text, &viewpoint->view))
        return -1;
    for (int i = 0; i < PL_VIEW_COUNT; i++)
        pl_suggest(text, pl_camera_view_name((pl_camera_view)i), &best);
    if (best)
        pl_suggest_text(best, hint, sizeof hint);
    return app_usage_error(command,
                           "--view must be corner, front, back, left, right or top, not \"%s\"%s",
                           text, hint);
}

/* What has a comma is meant as numbers; anything else names a camera of the scene, which is looked
   up when there is one. */
static int read_camera(const char *command, const char *text, app_viewpoint *viewpoint)
{
    double numbers[6];
    const char *s = text;
    if (!text)
        return -1;
    if (!strchr(text, ',')) {
        viewpoint->name = text;
        return -1;
    }
    for (int i = 0; i < 6; i++) {
        char *end;
        numbers[i] = strtod(s, &end);
        bool good = end != s && isfinite(numbers[i]) && *end == (i < 5 ? ',' : 0);
        if (!good)
            return app_usage_error(command,
                                   "--camera needs six numbers, as in 2,1,3,0,0.5,0: where it is "
                                   "and what it looks at; or the name of a camera of the scene; "
                                   "not \"%s\"",
                                   text);
        s = end + 1;
    }
    pl_camera camera = {.up = {0, 1, 0}, .angle = 0.6};
    memcpy(camera.eye, numbers, sizeof camera.eye);
    memcpy(camera.target, numbers + 3, sizeof camera.target);
    if (memcmp(camera.eye, camera.target, sizeof camera.eye) == 0)
        return app_usage_error(command, "--camera looks at the place where it is");
    viewpoint->camera = camera;
    viewpoint->has_camera = true;
    return -1;
}

/* ---- What is shown --------------------------------------------------------------------------- */

typedef struct layer {
    const char *name;
    bool *flag;
} layer;

enum { LAYERS = 7 };

static int unknown_layer(const char *command, const layer *layers, const char *word, int length)
{
    const char *best = NULL;
    char hint[96] = "", copy[48];
    snprintf(copy, sizeof copy, "%.*s", length, word);
    for (int i = 0; i < LAYERS; i++)
        pl_suggest(copy, layers[i].name, &best);
    if (best)
        pl_suggest_text(best, hint, sizeof hint);
    return app_usage_error(
        command,
        "--show can have surface, particles, graph, tets, clusters, contacts and stress, "
        "with commas between them, not \"%s\"%s",
        copy, hint);
}

static int read_show(const char *command, const char *text, app_show *show)
{
    const layer layers[LAYERS] = {{"surface", &show->surface},   {"particles", &show->particles},
                                  {"graph", &show->graph},       {"tets", &show->tets},
                                  {"contacts", &show->contacts}, {"stress", &show->stress},
                                  {"clusters", &show->clusters}};
    show->surface = !text;
    for (const char *s = text; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
        int length = (int)strcspn(s, ","), found = -1;
        for (int i = 0; i < LAYERS; i++)
            if ((int)strlen(layers[i].name) == length &&
                strncmp(s, layers[i].name, (size_t)length) == 0)
                found = i;
        if (found < 0)
            return unknown_layer(command, layers, s, length < 40 ? length : 40);
        *layers[found].flag = true;
    }
    /* Colours need something to be on, and contacts something that touches. */
    if (!show->particles && !show->graph && !show->tets && !show->clusters)
        show->surface = true;
    return -1;
}

static int read_stress_scale(const char *command, const char *text, const app_show *show,
                             app_stress *stress)
{
    char *end;
    if (!text)
        return -1;
    stress->scale = strtod(text, &end);
    if (end == text || *end || !(stress->scale > 0) || !isfinite(stress->scale))
        return app_usage_error(command,
                               "--stress-scale needs pascals above 0, as in 5e4, not \"%s\"", text);
    if (!show->stress)
        return app_usage_error(command, "--stress-scale goes with --show stress");
    return -1;
}

int app_painter_read_look(const char *command, const app_look *look, app_painter *painter)
{
    app_viewpoint *viewpoint = &painter->viewpoint;
    int result = read_size(command, look->size, painter);
    if (result < 0)
        result = read_view(command, look->view, viewpoint);
    if (result < 0 && look->view && look->camera)
        result = app_usage_error(command, "--view and --camera contradict each other");
    if (result < 0)
        result = read_camera(command, look->camera, viewpoint);
    if (result < 0)
        result = read_show(command, look->show, &painter->show);
    if (result < 0)
        result = read_stress_scale(command, look->stress_scale, &painter->show, &painter->stress);
    return result;
}

int app_check_look(const char *command, const app_look *look)
{
    app_painter unused = {0};
    return app_painter_read_look(command, look, &unused);
}

#endif
