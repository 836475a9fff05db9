#include "actors/link/curl_library.hpp"

#include <dlfcn.h>

namespace muster {
namespace {

template <class Function>
void find(void* library, const char* name, Function& function, std::string& fault) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) fault = std::string("libcurl has no ") + name;
}

CurlLibrary load() {
  CurlLibrary curl;
  void* library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    curl.fault = dlerror();
    return curl;
  }
  find(library, "curl_global_init", curl.global_init, curl.fault);
  find(library, "curl_easy_init", curl.easy_init, curl.fault);
  find(library, "curl_easy_setopt", curl.easy_setopt, curl.fault);
  find(library, "curl_easy_perform", curl.easy_perform, curl.fault);
  find(library, "curl_easy_getinfo", curl.easy_getinfo, curl.fault);
  find(library, "curl_easy_cleanup", curl.easy_cleanup, curl.fault);
  find(library, "curl_easy_strerror", curl.easy_strerror, curl.fault);
  find(library, "curl_slist_append", curl.slist_append, curl.fault);
  find(library, "curl_slist_free_all", curl.slist_free_all, curl.fault);
  if (curl.fault.empty() && curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    curl.fault = "libcurl does not start";
  }
  return curl;
}

}  // namespace

const CurlLibrary& curl_library() {
  static const CurlLibrary kLibrary = load();
  return kLibrary;
}

}  // namespace muster
