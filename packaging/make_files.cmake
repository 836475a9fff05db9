# Run while installing: the completions and the manual, as the built command writes them, and the
# units, with the path that the command gets. From packaging/CMakeLists.txt: made, units, muster,
# MUSTER_BIN, MUSTER_DOC.
file(MAKE_DIRECTORY "${made}")
foreach(shell bash zsh)
  execute_process(
    COMMAND "${muster}" completion ${shell}
    OUTPUT_FILE "${made}/completion.${shell}"
    RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "`${muster} completion ${shell}` ended with ${status}: is it built?")
  endif()
endforeach()
# Pages of commands that there are no more must not stay.
file(REMOVE_RECURSE "${made}/man1")
execute_process(COMMAND "${muster}" manual "${made}/man1" RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "`${muster} manual` ended with ${status}: is it built?")
endif()
foreach(unit muster-host.service muster-node@.service muster-worker@.service)
  configure_file("${units}/${unit}" "${made}/${unit}" @ONLY)
endforeach()
