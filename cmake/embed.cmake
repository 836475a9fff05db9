# Makes a C++ file of text files:
#   cmake -DOUT=FILE -DFILES=name=path;... -DNAMESPACE=... -DHEADER=... -P embed.cmake
# Each becomes `extern const std::string_view NAME` of the namespace, which the header declares.
set(text "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\n")
foreach(entry IN LISTS FILES)
  string(REGEX MATCH "^[^=]+" name "${entry}")
  string(REGEX REPLACE "^[^=]+=" "" path "${entry}")
  file(READ "${path}" content)
  string(FIND "${content}" ")embedded\"" closing)
  if(NOT closing EQUAL -1)
    message(FATAL_ERROR "${path}: contains the end mark of the raw string it is embedded in")
  endif()
  string(APPEND text "const std::string_view ${name} = R\"embedded(${content})embedded\";\n\n")
endforeach()
string(APPEND text "}  // namespace ${NAMESPACE}\n")
file(WRITE "${OUT}" "${text}")
