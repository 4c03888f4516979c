# Settings that every target shares, and the two functions by which a folder declares its library and its unit tests.
#
# The build tree has the shape of an installed prefix, so that programs behave alike in both:
#   bin/ordito            the command
#   cuda/                 looks like a CUDA toolkit to clang, make and CMake: bin/ include/ lib64/ nvvm/
#   share/ordito/         GPU descriptions, lab sources, published figures

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(ORDITO_TOOLKIT_DIR ${CMAKE_BINARY_DIR}/cuda)

option(ORDITO_WERROR "Treat warnings as errors" ON)
set(ORDITO_SANITIZE "" CACHE STRING "Sanitizers to build with, for example 'address,undefined' or 'thread'")

find_program(CCACHE ccache)
if(CCACHE)
  # ccache needs leave to use precompiled headers; clang stamps times into them.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

find_package(fmt REQUIRED)
find_package(GTest REQUIRED)
find_package(Threads REQUIRED)

add_library(ordito_options INTERFACE)
target_include_directories(ordito_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(ordito_options INTERFACE -Wall -Wextra -Wpedantic -Wno-gnu-zero-variadic-macro-arguments
                                                $<$<BOOL:${ORDITO_WERROR}>:-Werror>)
if(ORDITO_SANITIZE)
  # `enum` objects to error codes that the API does not have, which a C program may ask about. `function` looks for a signature before each function's code, which compiled kernels do not have.
  add_compile_options(-fsanitize=${ORDITO_SANITIZE} -fno-sanitize=function,enum -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # The sanitizer's runtime as a shared library, because libcuda and libcudart are shared and one process must have one runtime.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-x86_64.so OUTPUT_VARIABLE sanitizer_library)
  get_filename_component(sanitizer_libraries ${sanitizer_library} DIRECTORY)
  add_link_options(-fsanitize=${ORDITO_SANITIZE} -shared-libsan -Wl,-rpath,${sanitizer_libraries})
endif()
add_link_options(-fuse-ld=lld)

# ordito_library(<folder> SOURCES ... [DEPENDS ...] [PRIVATE_DEPENDS ...] [TAKEN_IN_PART])
# Declares the static library `ordito_<folder>`; DEPENDS are the layers below that its headers use. TAKEN_IN_PART: a shared library wants
# some of its files and not those that need the engine, so each file stays an object by itself.
function(ordito_library name)
  cmake_parse_arguments(ARG "TAKEN_IN_PART" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(ordito_${name} STATIC ${ARG_SOURCES})
  set_target_properties(ordito_${name} PROPERTIES ORDITO_TAKEN_IN_PART ${ARG_TAKEN_IN_PART})
  target_link_libraries(ordito_${name} PUBLIC ordito_options ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
endfunction()

# What a build with sanitizers makes and tests: programs that are wholly ours. A program that `ordito nvcc` compiled has no sanitizer in it.
add_custom_target(sanitized_tests)
# Folders whose code starts no thread and keeps nothing that threads share: there is nothing in them for the thread sanitizer.
set(ORDITO_WITHOUT_THREAD_SANITIZER
  unit.cccl unit.compiler_wrapper unit.cudnn unit.cufftw unit.cusolver unit.cusolver_several unit.device_launches unit.fatbin unit.include_order unit.ir
  unit.lab unit.nvcc_options unit.nvjpeg unit.nvrtc_messages unit.nvrtc_options unit.ptx unit.registers unit.report unit.simt)
# Libraries whose only threads are the runtime's, which run their calls as tasks of a stream (src/libs/stream_task.hpp). The calls of
# unit.cufft and unit.nccl stand for all of them. Together they took as long as the rest.
list(APPEND ORDITO_WITHOUT_THREAD_SANITIZER unit.cublas unit.cublaslt unit.cudnn_plans unit.cusparse unit.npp)
# ordito_sanitized_test(<test> <target>): `./test --asan` and `./test --tsan` run this test of CTest
function(ordito_sanitized_test test target)
  if(ORDITO_SANITIZE STREQUAL "thread" AND test IN_LIST ORDITO_WITHOUT_THREAD_SANITIZER)
    return()
  endif()
  add_dependencies(sanitized_tests ${target})
  set_property(TEST ${test} APPEND PROPERTY LABELS sanitized)
  # Text tests run their cases in processes that end without stopping their threads; each would sleep for a second before, and say that they leak.
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "TSAN_OPTIONS=atexit_sleep_ms=0 report_thread_leaks=0")
endfunction()

# ordito_unit_test(<folder> SOURCES foo_test.cpp ... [DEPENDS ...])
# Builds one GoogleTest binary for a folder; CTest sees it as one test.
function(ordito_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${ARG_DEPENDS} GTest::gtest_main)
  set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME unit.${name} COMMAND ${name}_test)
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 300)
  ordito_sanitized_test(unit.${name} ${name}_test)
endfunction()

# ordito_cxx_files(<target> <out>): the full paths of the target's own files of C++; what the build makes is not among them
function(ordito_cxx_files target out)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  set(files)
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE BASE_DIR ${folder})
    if(path MATCHES "\\.cpp$" AND EXISTS ${path})
      list(APPEND files ${path})
    endif()
  endforeach()
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# ordito_compiled_targets(<folder> <out>): every library and program that the folder and those below it declare
function(ordito_compiled_targets folder out)
  set(found)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "LIBRARY$|EXECUTABLE$" AND NOT type STREQUAL "INTERFACE_LIBRARY")
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    ordito_compiled_targets(${below} more)
    list(APPEND found ${more})
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()
