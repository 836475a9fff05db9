#pragma once

#include <curl/curl.h>

#include <string>

namespace muster {

/// The functions of libcurl that are called. It is loaded when it is first needed and not linked,
/// so that programs start without it, and stays until the process ends.
struct CurlLibrary {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
  std::string fault;  ///< why it cannot be used; empty: it can
};

/// One for the process: libcurl may be started once only.
const CurlLibrary& curl_library();

}  // namespace muster
