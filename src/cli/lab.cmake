# `ordito lab` as a library of its own, so that its tests need nothing of the front end.
find_package(CLI11 REQUIRED)
ordito_library(lab SOURCES lab.cpp lab_accesses.cpp lab_catalogue.cpp lab_read.cpp lab_report.cpp lab_runner.cpp lab_coverage.cpp lab_exercise.cpp lab_explain.cpp lab_order.cpp lab_plot.cpp lab_study.cpp lab_timeline.cpp capture.cpp DEPENDS ordito_report PRIVATE_DEPENDS ordito_frontend ordito_machine CLI11::CLI11)
ordito_unit_test(lab SOURCES lab_accesses_test.cpp lab_report_test.cpp lab_timeline_test.cpp capture_test.cpp DEPENDS ordito_lab)
target_compile_definitions(lab_test PRIVATE LAB_FOLDER="${CMAKE_SOURCE_DIR}/lab")
target_link_libraries(ordito PRIVATE ordito_lab)
