# The container is a library of its own: the compiler's stand-ins need it and nothing else of the driver.
find_package(PkgConfig REQUIRED)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET GLOBAL libzstd)
ordito_library(fatbin SOURCES fatbin.cpp DEPENDS fmt::fmt PRIVATE_DEPENDS PkgConfig::LZ4 PkgConfig::ZSTD)
# What the driver's linker and libnvJitLink share.
ordito_library(link SOURCES link.cpp link_parts.cpp DEPENDS ordito_fatbin ordito_ptx fmt::fmt)
ordito_unit_test(fatbin SOURCES fatbin_test.cpp DEPENDS ordito_fatbin)

if(ORDITO_FUZZ)
  # Compiled once more, so that the fuzzer sees which branches are taken.
  add_executable(fatbin_fuzz ${CMAKE_SOURCE_DIR}/tests/fuzz/fatbin_fuzz.cpp fatbin.cpp)
  target_link_libraries(fatbin_fuzz PRIVATE ordito_options ordito_base PkgConfig::LZ4 PkgConfig::ZSTD)
  target_compile_options(fatbin_fuzz PRIVATE -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
  target_link_options(fatbin_fuzz PRIVATE -fsanitize=fuzzer,address,undefined -static-libsan)
  set_target_properties(fatbin_fuzz PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endif()
