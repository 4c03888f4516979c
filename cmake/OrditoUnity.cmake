# Several files as one translation unit, for every target of several files.
#
# Behind its precompiled headers a file still costs a second or two: what it takes from LLVM, fmt and GoogleTest is instantiated and
# compiled once more in each. Files compiled together share that. Which files go together is found by unity_groups.py when CMake
# configures; the units themselves are CMake's unity builds. ORDITO_UNITY=OFF compiles each file by itself, so that less is compiled
# after a change.

option(ORDITO_UNITY "Compile several files of a target together" ON)

# ordito_unity_line(<target> <out>): the line about the target that unity_groups.py reads; empty where nothing can go together
function(ordito_unity_line target out)
  ordito_cxx_files(${target} paths)
  get_target_property(folder ${target} SOURCE_DIR)
  set(files)
  foreach(path IN LISTS paths)
    # A unit is compiled with one set of options.
    set(own)
    foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS SKIP_PRECOMPILE_HEADERS SKIP_UNITY_BUILD_INCLUSION)
      get_source_file_property(value ${path} TARGET_DIRECTORY ${target} ${property})
      if(value)
        set(own ON)
      endif()
    endforeach()
    if(NOT own)
      list(APPEND files ${path})
    endif()
  endforeach()
  list(LENGTH files count)
  get_target_property(taken_in_part ${target} ORDITO_TAKEN_IN_PART)
  string(JOIN "\t" line ${target} ${folder} ${files})
  if(taken_in_part OR count LESS 2)
    set(line)
  endif()
  set(${out} "${line}" PARENT_SCOPE)
endfunction()

# ordito_unity(<target> ...): compiles files of these targets together
function(ordito_unity)
  find_package(Python3 COMPONENTS Interpreter)
  if(NOT ORDITO_UNITY OR NOT Python3_FOUND)
    return()
  endif()
  set(lines)
  foreach(target IN LISTS ARGN)
    ordito_unity_line(${target} line)
    if(line)
      string(APPEND lines "${line}\n")
    endif()
  endforeach()
  file(WRITE ${CMAKE_BINARY_DIR}/unity_targets.txt "${lines}")
  execute_process(COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/cmake/unity_groups.py
                  INPUT_FILE ${CMAKE_BINARY_DIR}/unity_targets.txt OUTPUT_FILE ${CMAKE_BINARY_DIR}/unity_groups.cmake
                  COMMAND_ERROR_IS_FATAL ANY)
  include(${CMAKE_BINARY_DIR}/unity_groups.cmake)
endfunction()
