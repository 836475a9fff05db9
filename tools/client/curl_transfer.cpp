// Speaks to APIs by libcurl, which knows TLS, names and proxies. It is loaded when it is needed and
// not linked: a command that only speaks to its own machine starts without it.

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "actors/link/curl_library.hpp"
#include "model/check.hpp"
#include "tools/client/transfer.hpp"

namespace muster::client {
namespace {

/// Never 0, which libcurl takes for its default: no limit, for a whole request.
long milliseconds(Duration duration) {
  return static_cast<long>(
      std::chrono::ceil<std::chrono::milliseconds>(std::max(duration, Duration{1})).count());
}

// For a proxy 127.0.0.1 is its own machine: no proxy is used for an API on this one.
bool is_loopback(const std::string& url) {
  const std::size_t begin = url.find("//") + 2;
  const std::string_view host = std::string_view(url).substr(begin);
  return host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]");
}

Outcome outcome_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return Outcome::answered;
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
      return Outcome::nobody_there;
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
      return Outcome::lost;
    case CURLE_ABORTED_BY_CALLBACK:
      return Outcome::stopped;
    default:
      return Outcome::failed;
  }
}

/// A libcurl handle, which keeps its connection from one request to the next.
class CurlTransfer final : public Transfer {
 public:
  explicit CurlTransfer(TransferOptions options) : options_(std::move(options)) {
    if (!library_.fault.empty()) return;
    curl_.reset(library_.easy_init());
    MUSTER_CHECK(curl_ != nullptr, "libcurl gives no handle");
    set_fixed_options();
  }

  HttpReply perform(const std::string& api, const HttpRequest& request, Duration limit) override;

 private:
  struct Cleanup {
    void operator()(CURL* curl) const { curl_library().easy_cleanup(curl); }
    void operator()(curl_slist* list) const { curl_library().slist_free_all(list); }
  };
  struct Sink {
    HttpReply& reply;
    std::size_t limit;
    bool too_large = false;
  };

  // release() and reset(): append returns the same list, which must not be freed in between.
  void add_header(const std::string& line) {
    curl_slist* longer = library_.slist_append(headers_.get(), line.c_str());
    MUSTER_CHECK(longer != nullptr, "libcurl takes no header");
    // The list's head stays but for the first line.
    static_cast<void>(headers_.release());
    headers_.reset(longer);
  }
  template <class Value>
  void set(CURLoption option, Value value) {
    const CURLcode code = library_.easy_setopt(curl_.get(), option, value);
    MUSTER_CHECK(code == CURLE_OK, "libcurl takes no such option");
  }
  void set_fixed_options();
  void set_headers(const HttpRequest& request);

  static std::size_t take(char* data, std::size_t size, std::size_t count, void* sink) {
    auto& [reply, limit, too_large] = *static_cast<Sink*>(sink);
    const std::size_t bytes = size * count;
    if (reply.body.size() + bytes > limit) {
      // A count other than that offered ends the transfer.
      too_large = true;
      return 0;
    }
    reply.body.append(data, bytes);
    return bytes;
  }
  static std::size_t take_header(char* data, std::size_t size, std::size_t count, void* sink) {
    constexpr std::size_t kMaxHeaders = 100;
    auto& headers = static_cast<Sink*>(sink)->reply.headers;
    const std::string_view line(data, size * count);
    const std::size_t colon = line.find(':');
    // The status line has no colon; more headers than these are not the API's.
    if (colon == std::string_view::npos || headers.size() >= kMaxHeaders) return line.size();
    std::string name(line.substr(0, colon));
    std::ranges::transform(name, name.begin(), [](unsigned char letter) {
      return letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter;
    });
    std::string_view value = line.substr(colon + 1);
    const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!value.empty() && is_blank(value.front())) value.remove_prefix(1);
    while (!value.empty() && is_blank(value.back())) value.remove_suffix(1);
    headers[name] = value;
    return line.size();
  }
  // Called by libcurl about once a second and at each progress: a stop need not wait for the
  // answer.
  static int watch(void* options, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    const auto& stop_asked = static_cast<const TransferOptions*>(options)->stop_asked;
    return stop_asked && stop_asked() ? 1 : 0;
  }

  const CurlLibrary& library_ = curl_library();
  TransferOptions options_;
  std::unique_ptr<CURL, Cleanup> curl_;
  std::unique_ptr<curl_slist, Cleanup> headers_;
  std::array<char, CURL_ERROR_SIZE> reason_{};
};

void CurlTransfer::set_headers(const HttpRequest& request) {
  // The handle must not keep the list that goes.
  set(CURLOPT_HTTPHEADER, static_cast<curl_slist*>(nullptr));
  headers_.reset();
  add_header("Authorization: Bearer " + options_.token);
  if (!options_.caller.empty()) add_header("Muster-Caller: " + options_.caller);
  add_header("Accept: application/json");
  add_header("Content-Type: application/json");
  // Empty: libcurl would announce large bodies by Expect: 100-continue and wait for the answer.
  add_header("Expect:");
  for (const std::string& line : repeat_headers(request)) add_header(line);
  set(CURLOPT_HTTPHEADER, headers_.get());
}

void CurlTransfer::set_fixed_options() {
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  // Chain, dates and the name or address of the URL are verified, as libcurl does unless told
  // otherwise.
  if (!options_.ca.empty()) {
    set(CURLOPT_CAINFO, options_.ca.c_str());
    // Else the system's authorities would count besides.
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  // Timeouts by signals are not safe in a process with threads.
  set(CURLOPT_NOSIGNAL, 1L);
  // The API never redirects: a server that does is something else.
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_USERAGENT, "muster");
  set(CURLOPT_ERRORBUFFER, reason_.data());
  set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(options_.connect_timeout));
  set(CURLOPT_WRITEFUNCTION, &CurlTransfer::take);
  set(CURLOPT_HEADERFUNCTION, &CurlTransfer::take_header);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &CurlTransfer::watch);
  set(CURLOPT_XFERINFODATA, &options_);
}

HttpReply CurlTransfer::perform(const std::string& api, const HttpRequest& request,
                                Duration limit) {
  HttpReply reply;
  if (curl_ == nullptr) {
    reply.reason = "such an API needs libcurl: " + library_.fault;
    return reply;
  }
  Sink sink{reply, options_.max_answer_bytes};
  reason_.front() = '\0';
  const std::string url = api + request.path;
  set_headers(request);
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_TIMEOUT_MS, milliseconds(limit));
  // An empty text turns proxies off; null leaves the choice to the environment's variables.
  const char* const no_proxy = "";
  set(CURLOPT_PROXY, is_loopback(api) ? no_proxy : nullptr);
  set(CURLOPT_WRITEDATA, &sink);
  set(CURLOPT_HEADERDATA, &sink);
  if (request.body != nullptr) {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
    set(CURLOPT_POSTFIELDS, request.body->data());
  } else {
    set(CURLOPT_HTTPGET, 1L);
  }
  const CURLcode code = library_.easy_perform(curl_.get());
  reply.outcome = sink.too_large ? Outcome::too_large : outcome_of(code);
  reply.distrusted = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
  library_.easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &reply.status);
  curl_off_t seconds = 0;
  library_.easy_getinfo(curl_.get(), CURLINFO_RETRY_AFTER, &seconds);
  // A day: any number of seconds may come, and a Duration is in ns.
  constexpr curl_off_t kLongestWish = 86'400;
  reply.retry_after = std::chrono::seconds(std::clamp(seconds, curl_off_t{0}, kLongestWish));
  reply.reason = reason_.front() != '\0' ? reason_.data() : library_.easy_strerror(code);
  return reply;
}

}  // namespace

std::unique_ptr<Transfer> curl_transfer(TransferOptions options) {
  return std::make_unique<CurlTransfer>(std::move(options));
}

}  // namespace muster::client
