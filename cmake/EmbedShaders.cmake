# Turns src/draw/*.glsl into C strings: scene.glsl becomes `const char pl_glsl_scene[]`.
#   include(EmbedShaders)
#   pliant_embed_shaders(<variable that gets the name of the C file>)
# The same file, run as a script, writes the C source:
#   cmake -DSHADERS=<directory> -DOUTPUT=<file.c> -P EmbedShaders.cmake

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(PLIANT_SHADER_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
  function(pliant_embed_shaders result)
    set(source ${PROJECT_BINARY_DIR}/shader_texts.c)
    file(GLOB shaders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/draw/*.glsl)
    add_custom_command(OUTPUT ${source}
      COMMAND ${CMAKE_COMMAND} -DSHADERS=${PROJECT_SOURCE_DIR}/src/draw -DOUTPUT=${source} -P ${PLIANT_SHADER_SCRIPT}
      DEPENDS ${shaders} ${PLIANT_SHADER_SCRIPT}
      COMMENT "Embedding shaders" VERBATIM)
    set(${result} ${source} PARENT_SCOPE)
  endfunction()
  return()
endif()

file(GLOB files ${SHADERS}/*.glsl)
list(SORT files)
set(arrays "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "extern const char pl_glsl_${name}[];\nconst char pl_glsl_${name}[] = {\n${bytes}0};\n\n")
endforeach()
file(WRITE ${OUTPUT} "/* Made from the .glsl files of src/draw at build time: change those. */\n${arrays}")
