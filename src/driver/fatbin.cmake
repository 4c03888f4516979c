# The container is a library of its own: the compiler's stand-ins need it and nothing else of the driver.
find_package(PkgConfig REQUIRED)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET GLOBAL libzstd)
ordito_library(fatbin SOURCES fatbin.cpp DEPENDS fmt::fmt PRIVATE_DEPENDS PkgConfig::LZ4 PkgConfig::ZSTD)
ordito_unit_test(fatbin SOURCES fatbin_test.cpp DEPENDS ordito_fatbin)
