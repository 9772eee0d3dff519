# pliant_library(NAME EXPORT SOURCE…): the targets NAME_static and NAME_shared from the same objects.
#
# Kernels (*_lanes.c) are written once for a width PL_W and compiled once per instruction set: 4 floats (SSE2, NEON,
# WebAssembly), 8 (AVX2), 16 (AVX-512). All other files are compiled once, for the baseline of the architecture.
# Kernels named *_half_lanes.c use vectors of half the width; structures of them must not be copied in larger pieces, or
# every copy waits until what was just written has reached the cache.
#
# Kernels of contact, and what gathers for it, reach for particles by sixteen addresses at a time: GCC would compute those in vectors, and
# take them out again one by one.
#
# Sanitized, they would take a minute each to compile: less is inlined there (math/lanes.h). Fuzzers need not steer by kernels.

set(PLIANT_LANES_WIDTHS 4)
set(PLIANT_LANES_OPTIONS_4)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(PLIANT_LANES_WIDTHS ${PLIANT_WIDTHS})
  set(PLIANT_LANES_OPTIONS_8 -mavx2)
  set(PLIANT_LANES_OPTIONS_16 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512)
  set(PLIANT_LANES_OPTIONS_HALF -mprefer-vector-width=256)
  include(CheckCCompilerFlag)
  check_c_compiler_flag(-mmove-max=256 PLIANT_HAVE_MOVE_MAX) # GCC 12; clang copies by members
  if(PLIANT_HAVE_MOVE_MAX)
    list(APPEND PLIANT_LANES_OPTIONS_HALF -mmove-max=256 -mstore-max=256)
  endif()
endif()

function(pliant_library name export)
  set(sources ${ARGN})
  set(kernels ${ARGN})
  list(FILTER sources EXCLUDE REGEX "_lanes\\.c$")
  list(FILTER kernels INCLUDE REGEX "_lanes\\.c$")

  add_library(${name}_objects OBJECT ${sources})
  target_link_libraries(${name}_objects PRIVATE pliant_flags)
  set(objects $<TARGET_OBJECTS:${name}_objects>)
  if(kernels)
    if(PLIANT_SANITIZE)
      set_source_files_properties(${kernels} PROPERTIES COMPILE_DEFINITIONS PL_LANES_SANITIZED)
    endif()
    if(PLIANT_BUILD_FUZZ)
      set_property(SOURCE ${kernels} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=fuzzer-no-link)
    endif()
    set(half_kernels ${kernels})
    list(FILTER half_kernels INCLUDE REGEX "_half_lanes\\.c$")
    if(half_kernels)
      set_property(SOURCE ${half_kernels} APPEND PROPERTY COMPILE_OPTIONS ${PLIANT_LANES_OPTIONS_HALF})
    endif()
    set(contact_kernels ${kernels})
    list(FILTER contact_kernels INCLUDE REGEX "/contact/|/gather_lanes")
    if(contact_kernels)
      set_property(SOURCE ${contact_kernels} APPEND PROPERTY COMPILE_OPTIONS -fno-tree-slp-vectorize)
    endif()
    foreach(width IN LISTS PLIANT_LANES_WIDTHS)
      add_library(${name}_lanes_${width} OBJECT ${kernels})
      target_link_libraries(${name}_lanes_${width} PRIVATE pliant_flags)
      target_compile_definitions(${name}_lanes_${width} PRIVATE PL_W=${width})
      target_compile_options(${name}_lanes_${width} PRIVATE ${PLIANT_LANES_OPTIONS_${width}})
      list(APPEND objects $<TARGET_OBJECTS:${name}_lanes_${width}>)
    endforeach()
  endif()

  add_library(${name}_static STATIC ${objects})
  set(targets ${name}_static)
  set_target_properties(${name}_static PROPERTIES EXPORT_NAME ${export}_static)
  add_library(pliant::${export}_static ALIAS ${name}_static)
  if(PLIANT_BUILD_SHARED)
    add_library(${name}_shared SHARED ${objects})
    list(APPEND targets ${name}_shared)
    set_target_properties(${name}_shared PROPERTIES EXPORT_NAME ${export}
      VERSION ${PROJECT_VERSION} SOVERSION ${PLIANT_SOVERSION})
    target_link_libraries(${name}_shared PRIVATE $<BUILD_INTERFACE:pliant_flags>)
    add_library(pliant::${export} ALIAS ${name}_shared)
  else()
    add_library(pliant::${export} ALIAS ${name}_static)
  endif()
  foreach(target IN LISTS targets)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C)
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  endforeach()
endfunction()
