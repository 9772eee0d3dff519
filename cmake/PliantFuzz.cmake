# Every fuzz/fuzz_*.c becomes a libFuzzer program (clang; the libraries are built with the same sanitizers).
file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/fuzz_*.c)
foreach(file IN LISTS files)
  cmake_path(GET file STEM name)
  add_executable(${name} ${file})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  target_link_libraries(${name} PRIVATE pliant_internal)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endforeach()
