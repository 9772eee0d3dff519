# The drawing library: pictures without a window, for the command alone (static, not installed). Built where libepoxy, EGL's
# headers and libpng are found; otherwise the layer is left out, and the command says what pictures need.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PLIANT_EPOXY QUIET IMPORTED_TARGET epoxy)
  pkg_check_modules(PLIANT_EGL QUIET IMPORTED_TARGET egl)
  pkg_check_modules(PLIANT_PNG QUIET IMPORTED_TARGET libpng)
endif()

if(PLIANT_EPOXY_FOUND AND PLIANT_EGL_FOUND AND PLIANT_PNG_FOUND)
  include(EmbedShaders)
  pliant_embed_shaders(shader_texts)
  add_library(pliant_draw_static STATIC ${PLIANT_DRAW_SOURCES} ${shader_texts})
  set_target_properties(pliant_draw_static PROPERTIES OUTPUT_NAME pliant_draw)
  # libEGL itself is opened by libepoxy when it is needed: the command starts without it.
  target_link_libraries(pliant_draw_static PRIVATE pliant_flags PkgConfig::PLIANT_EPOXY PkgConfig::PLIANT_PNG
    PUBLIC pliant_static)
  target_compile_definitions(pliant_draw_static INTERFACE PLIANT_HAVE_DRAW)
else()
  message(STATUS "libepoxy, EGL or libpng not found: pictures are left out")
  list(REMOVE_ITEM PLIANT_LAYERS draw)
endif()
