#include "draw/headless.h"

#include <dlfcn.h>
#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <stdlib.h>
#include <string.h>

#define REMEDY "install Mesa's drivers (Debian: libegl1 libgl1 libgl1-mesa-dri)"

/* libepoxy ends the program when a library it needs is missing; so it is asked for first. */
static bool library_is_there(const char *name)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (library)
        dlclose(library);
    return library != NULL;
}

static bool in_list(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *s = list; s && (s = strstr(s, name)); s += length)
        if ((s == list || s[-1] == ' ') && (s[length] == ' ' || s[length] == 0))
            return true;
    return false;
}

static bool try_display(EGLDisplay display, pl_headless *headless)
{
    static const EGLint config_wish[] = {EGL_SURFACE_TYPE, EGL_DONT_CARE, EGL_RENDERABLE_TYPE,
                                         EGL_OPENGL_BIT, EGL_NONE};
    static const EGLint context_wish[] = {EGL_CONTEXT_MAJOR_VERSION,
                                          3,
                                          EGL_CONTEXT_MINOR_VERSION,
                                          3,
                                          EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                          EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                          EGL_NONE};
    EGLConfig config;
    EGLint major, minor, count = 0;
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, &major, &minor))
        return false;
    EGLContext context = EGL_NO_CONTEXT;
    if (in_list(eglQueryString(display, EGL_EXTENSIONS), "EGL_KHR_surfaceless_context") &&
        in_list(eglQueryString(display, EGL_CLIENT_APIS), "OpenGL") &&
        eglChooseConfig(display, config_wish, &config, 1, &count) && count > 0 &&
        eglBindAPI(EGL_OPENGL_API))
        context = eglCreateContext(display, config, EGL_NO_CONTEXT, context_wish);
    if (context != EGL_NO_CONTEXT &&
        eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
        *headless = (pl_headless){display, context};
        return true;
    }
    if (context != EGL_NO_CONTEXT)
        eglDestroyContext(display, context);
    return false;
}

static bool try_devices(pl_headless *headless)
{
    EGLDeviceEXT devices[8];
    EGLint count = 0;
    if (!eglQueryDevicesEXT(8, devices, &count))
        return false;
    for (EGLint i = 0; i < count; i++)
        if (try_display(eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL),
                        headless))
            return true;
    return false;
}

pl_status pl_headless_open(pl_headless *headless, pl_error *error)
{
    *headless = (pl_headless){0};
    PL_CHECK(library_is_there("libEGL.so.1"), PL_ERROR_STATE, error, NULL,
             "pictures need the library libEGL: " REMEDY);
    PL_CHECK(library_is_there("libGL.so.1") || library_is_there("libOpenGL.so.0"), PL_ERROR_STATE,
             error, NULL, "pictures need the library libGL: " REMEDY);
    const char *client = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    bool open = false;
    if (in_list(client, "EGL_MESA_platform_surfaceless"))
        open = try_display(
            eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL),
            headless);
    if (!open && in_list(client, "EGL_EXT_platform_device") &&
        (in_list(client, "EGL_EXT_device_enumeration") || in_list(client, "EGL_EXT_device_base")))
        open = try_devices(headless);
    if (!open)
        open = try_display(eglGetDisplay(EGL_DEFAULT_DISPLAY), headless);
    PL_CHECK(open, PL_ERROR_STATE, error, NULL,
             "pictures need OpenGL 3.3 through EGL, and there is none: " REMEDY);
    if (epoxy_gl_version() < 33) {
        pl_headless_close(headless);
        return pl_fail(error, PL_ERROR_STATE, NULL,
                       "pictures need OpenGL 3.3, and there is only an older one: " REMEDY);
    }
    return PL_OK;
}

bool pl_headless_enter(const pl_headless *headless)
{
    return eglGetCurrentContext() == headless->context ||
           (eglBindAPI(EGL_OPENGL_API) &&
            eglMakeCurrent(headless->display, EGL_NO_SURFACE, EGL_NO_SURFACE, headless->context));
}

void pl_headless_close(pl_headless *headless)
{
    if (!headless->context)
        return;
    eglMakeCurrent(headless->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(headless->display, headless->context);
    /* Displays are shared by everybody in the process who asked for the same one: terminating it
       would pull it away from another context. */
    eglReleaseThread();
    *headless = (pl_headless){0};
}
