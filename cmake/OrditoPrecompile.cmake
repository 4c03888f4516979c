# Precompiled headers for every target of several files, chosen by what the files include.
#
# Most of the time to compile a file here goes to the headers of the C++ library, fmt, GoogleTest and LLVM that nearly every file of a
# target reads. The lists are not kept by hand: when CMake configures, each target's sources are read, their own headers are followed,
# and what at least half of its files include from outside of the project is precompiled for that target. A list that is out of date
# costs time and is never wrong, since every file goes on including what it uses: ORDITO_PRECOMPILE=OFF builds without.

option(ORDITO_PRECOMPILE "Precompile the headers that most files of a target include" ON)

# Fewer files than this do not earn back the time that their precompiled header takes.
set(ORDITO_PRECOMPILE_FILES 3)

# ordito_included(<file> <out>): the names that the file includes, as <name> and "name", in order
function(ordito_included file out)
  file(STRINGS ${file} lines REGEX "^#include ")
  set(names)
  foreach(line IN LISTS lines)
    if(line MATCHES "^#include (<[^>]+>|\"[^\"]+\")")
      list(APPEND names ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# ordito_system_headers(<file> <out>): the headers from outside of the project that the file, or a header of the project in it, includes
function(ordito_system_headers file out)
  get_property(known GLOBAL PROPERTY "ordito_system_${file}" SET)
  if(NOT known)
    set_property(GLOBAL PROPERTY "ordito_system_${file}" "")  # ends circles
    get_filename_component(folder ${file} DIRECTORY)
    ordito_included(${file} names)
    set(found)
    foreach(name IN LISTS names)
      if(name MATCHES "^<")
        list(APPEND found ${name})
        continue()
      endif()
      string(REPLACE "\"" "" name ${name})
      foreach(place ${folder} ${CMAKE_SOURCE_DIR}/src)
        if(EXISTS ${place}/${name})
          ordito_system_headers(${place}/${name} below)
          list(APPEND found ${below})
          break()
        endif()
      endforeach()
    endforeach()
    list(REMOVE_DUPLICATES found)
    set_property(GLOBAL PROPERTY "ordito_system_${file}" "${found}")
  endif()
  get_property(found GLOBAL PROPERTY "ordito_system_${file}")
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# ordito_precompile_target(<target>): precompiles what at least half of the target's files of C++ include
function(ordito_precompile_target target)
  ordito_cxx_files(${target} paths)
  set(files 0)
  set(headers)
  foreach(path IN LISTS paths)
    # A precompiled header holds for the options that it was made with.
    get_source_file_property(options ${path} TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
    if(options)
      set_source_files_properties(${path} TARGET_DIRECTORY ${target} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
      continue()
    endif()
    math(EXPR files "${files} + 1")
    ordito_system_headers(${path} found)
    foreach(header IN LISTS found)
      string(MAKE_C_IDENTIFIER ${header} id)
      if(NOT DEFINED count_${id})
        set(count_${id} 0)
        list(APPEND headers ${header})
      endif()
      math(EXPR count_${id} "${count_${id}} + 1")
    endforeach()
  endforeach()
  if(files LESS ORDITO_PRECOMPILE_FILES)
    return()
  endif()
  set(chosen)
  foreach(header IN LISTS headers)
    string(MAKE_C_IDENTIFIER ${header} id)
    math(EXPR twice "2 * ${count_${id}}")
    if(NOT twice LESS files)
      string(REPLACE ">" "$<ANGLE-R>" header ${header})  # `>` would end the expression
      list(APPEND chosen "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
    endif()
  endforeach()
  if(chosen)
    list(SORT chosen)
    target_precompile_headers(${target} PRIVATE ${chosen})
    # Without times in it the precompiled header is the same in each build tree, so ccache knows what was compiled with it.
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endfunction()

# ordito_precompile(<target> ...): precompiles for each of these targets
function(ordito_precompile)
  if(ORDITO_PRECOMPILE)
    foreach(target IN LISTS ARGN)
      ordito_precompile_target(${target})
    endforeach()
  endif()
endfunction()
