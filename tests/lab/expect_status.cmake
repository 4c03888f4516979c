# Runs COMMAND and fails unless it ends with status EXPECTED and exactly one line on standard error.
execute_process(COMMAND ${COMMAND} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE errors)
if(NOT status EQUAL EXPECTED)
  message(FATAL_ERROR "status ${status}, not ${EXPECTED}: ${errors}")
endif()
string(REGEX REPLACE "\n$" "" errors "${errors}")
# Progress lines of `lab run` may precede the complaint.
string(REGEX REPLACE "(^|\n)(  )?[a-z_]+: [a-z0-9_]+(\n|$)" "\\1" errors "${errors}")
if(errors STREQUAL "" OR errors MATCHES "\n")
  message(FATAL_ERROR "expected one line, got: ${errors}")
endif()
