# tests/<layer>/test_<name>.c becomes the test <layer>/<name>; tests/support/*.c is linked to all of them.
# tests/<name>.sh and tests/<folder>/<name>.sh become the tests <name> and <folder>/<name>; they get the environment
# PLIANT (the built command), SOURCE_DIR, BUILD_DIR, CC and SANITIZE; exit status 77 says that they were skipped.
# A C test whose text speaks of threads or tasks gets the label "threads": the thread sanitizer looks at those, unless
# "Label: serial" in the opening comment says that other tests show as much. One that
# speaks of golden values gets the label "bits": other compilers must give the same. The targets thread_tests and
# bits_tests build just those. A line "Label: slow" in the opening comment of a test, of either language, gives it that
# label: the address sanitizer, which would find nothing new there, leaves it out; quick_tests builds all others, and
# what scripts need.

set(PLIANT_COMMAND ${PROJECT_BINARY_DIR}/pliant)
set(PLIANT_TEST_TIMEOUT 300)
if(PLIANT_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(PLIANT_TEST_TIMEOUT 900)
endif()

# pliant_labels_of(TEST FILE): the labels that the text of the test asks for.
function(pliant_labels_of test file)
  file(STRINGS ${file} labels LIMIT_COUNT 1 LIMIT_INPUT 1000 REGEX "Label: [a-z]+")
  if(labels MATCHES "Label: ([a-z]+)")
    set_property(TEST ${test} APPEND PROPERTY LABELS ${CMAKE_MATCH_1})
    if(CMAKE_MATCH_1 STREQUAL "slow")
      set_property(TEST ${test} PROPERTY COST 10) # these first: no processor waits for the last of them
    endif()
  endif()
endfunction()

function(pliant_c_tests)
  file(GLOB support CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.c)
  add_library(pliant_test_support INTERFACE)
  target_include_directories(pliant_test_support INTERFACE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(pliant_test_support INTERFACE
    PLIANT_SOURCE_DIR="${PROJECT_SOURCE_DIR}" PLIANT_COMMAND="${PLIANT_COMMAND}")
  target_link_libraries(pliant_test_support INTERFACE pliant_internal pliant_judges PkgConfig::CMOCKA)
  if(support)
    add_library(pliant_test_support_objects STATIC ${support})
    target_link_libraries(pliant_test_support_objects PUBLIC pliant_test_support)
    set(helpers pliant_test_support_objects)
  endif()

  add_custom_target(thread_tests)
  add_custom_target(bits_tests)
  add_custom_target(quick_tests)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*/test_*.c)
  foreach(file IN LISTS files)
    cmake_path(GET file STEM name)
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(GET folder FILENAME layer)
    if(layer IN_LIST PLIANT_ALL_LAYERS AND NOT layer IN_LIST PLIANT_LAYERS)
      continue()
    endif()
    string(REGEX REPLACE "^test_" "" name ${name})
    set(target test_${layer}_${name})
    add_executable(${target} ${file})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME test_${name}
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${layer})
    target_link_libraries(${target} PRIVATE ${helpers} pliant_test_support)
    if(layer STREQUAL "app" AND TARGET pliant_command)
      add_dependencies(${target} pliant_command)
    endif()
    add_test(NAME ${layer}/${name} COMMAND ${target})
    set_tests_properties(${layer}/${name} PROPERTIES TIMEOUT ${PLIANT_TEST_TIMEOUT} SKIP_RETURN_CODE 77
      LABELS ${layer})
    pliant_labels_of(${layer}/${name} ${file})
    get_property(labels TEST ${layer}/${name} PROPERTY LABELS)
    if(NOT slow IN_LIST labels)
      add_dependencies(quick_tests ${target})
    endif()
    file(STRINGS ${file} threaded LIMIT_COUNT 1 REGEX "[Tt]hread|pl_task")
    if(threaded AND NOT serial IN_LIST labels)
      set_property(TEST ${layer}/${name} APPEND PROPERTY LABELS threads)
      add_dependencies(thread_tests ${target})
    endif()
    file(STRINGS ${file} golden LIMIT_COUNT 1 REGEX "[Gg]olden")
    if(golden)
      set_property(TEST ${layer}/${name} APPEND PROPERTY LABELS bits)
      add_dependencies(bits_tests ${target})
    endif()
  endforeach()
endfunction()

function(pliant_script_tests)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*.sh ${PROJECT_SOURCE_DIR}/tests/*/*.sh)
  foreach(file IN LISTS files)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests OUTPUT_VARIABLE name)
    # A sanitized library cannot be linked by a program built without the sanitizer.
    if(name MATCHES "^support/" OR (PLIANT_SANITIZE AND name MATCHES "^install/"))
      continue()
    endif()
    cmake_path(REMOVE_EXTENSION name)
    add_test(NAME ${name} COMMAND bash ${file})
    set(environment PLIANT=${PLIANT_COMMAND} SOURCE_DIR=${PROJECT_SOURCE_DIR} BUILD_DIR=${PROJECT_BINARY_DIR}
      CC=${CMAKE_C_COMPILER} SANITIZE=${PLIANT_SANITIZE})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${PLIANT_TEST_TIMEOUT} SKIP_RETURN_CODE 77 LABELS script
      ENVIRONMENT "${environment}")
    pliant_labels_of(${name} ${file})
  endforeach()
endfunction()

find_package(PkgConfig)
if(PkgConfig_FOUND)
  pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
endif()
if(CMOCKA_FOUND)
  pliant_c_tests()
  if(TARGET pliant_command)
    add_dependencies(quick_tests pliant_command)
  endif()
else()
  message(WARNING "cmocka or pkg-config not found: the tests written in C are left out")
endif()
pliant_script_tests()
