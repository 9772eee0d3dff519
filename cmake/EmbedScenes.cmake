# Compiles scenes/*.json into the command, so that it finds them wherever it is installed.
#   include(EmbedScenes)
#   pliant_embed_scenes(pliant_command)
# The same file, run as a script, writes the C source:
#   cmake -DSCENES=<directory> -DOUTPUT=<file.c> -P EmbedScenes.cmake

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(PLIANT_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
  function(pliant_embed_scenes target)
    set(source ${PROJECT_BINARY_DIR}/builtin_scenes.c)
    file(GLOB scenes CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scenes/*.json)
    add_custom_command(OUTPUT ${source}
      COMMAND ${CMAKE_COMMAND} -DSCENES=${PROJECT_SOURCE_DIR}/scenes -DOUTPUT=${source} -P ${PLIANT_EMBED_SCRIPT}
      DEPENDS ${scenes} ${PLIANT_EMBED_SCRIPT}
      COMMENT "Embedding scenes" VERBATIM)
    target_sources(${target} PRIVATE ${source})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/app)
  endfunction()
  return()
endif()

file(GLOB files ${SCENES}/*.json)
list(SORT files)
set(arrays "")
set(table "")
set(count 0)
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "static const unsigned char scene_${count}[] = {\n${bytes}0};\n\n")
  string(APPEND table "    {\"${name}\", (const char *)scene_${count}, ${size}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT} "/* Made from scenes/ at build time: change those. */\n#include \"app.h\"\n\n${arrays}"
  "const app_builtin app_builtins[] = {\n${table}    {0},\n};\nconst int app_builtin_count = ${count};\n")
