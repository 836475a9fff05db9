// Posts to webhooks by libcurl, which is loaded when there is something to post: nodes start
// without it.

#include "serve/notify/hook_post.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "actors/link/curl_library.hpp"
#include "config/notify_address.hpp"

namespace muster::notify {
namespace {

constexpr std::size_t kMostAnswerBytes = 64 << 10;
/// Of all headers together.
constexpr std::size_t kMostHeaderBytes = 64 << 10;
constexpr int kMostRedirections = 3;
/// Seconds; a receiver may ask for any pause.
constexpr curl_off_t kLongestWish = 86'400;

std::optional<config::IpAddress> address_of(const sockaddr& socket) {
  config::IpAddress out;
  if (socket.sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &socket, sizeof v4);
    out.bytes[10] = out.bytes[11] = 0xff;
    std::memcpy(out.bytes.data() + 12, &v4.sin_addr, 4);
    return out;
  }
  if (socket.sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, &socket, sizeof v6);
  std::memcpy(out.bytes.data(), &v6.sin6_addr, 16);
  return out;
}

/// One request; a redirection is another one.
struct Call {
  const HookTerms& terms;
  config::HookAddress to;
  bool refused = false;        ///< an address that may not be connected to
  std::size_t bytes = 0;       ///< of the answer
  std::size_t head_bytes = 0;  ///< of its headers

  bool may_connect(const sockaddr& socket) const {
    const auto address = address_of(socket);
    if (!address) return false;
    if (terms.allowed.names_host(to.host) || terms.allowed.has(*address)) return true;
    return to.tls && config::is_public(*address);
  }
};

curl_socket_t open_socket(void* call, curlsocktype purpose, curl_sockaddr* to) {
  auto& here = *static_cast<Call*>(call);
  if (purpose != CURLSOCKTYPE_IPCXN || !here.may_connect(to->addr)) {
    here.refused = true;
    return CURL_SOCKET_BAD;
  }
  return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

std::size_t count_bytes(char* /*data*/, std::size_t size, std::size_t count, void* call) {
  auto& here = *static_cast<Call*>(call);
  here.bytes += size * count;
  // A count other than that offered ends the transfer.
  return here.bytes > kMostAnswerBytes ? 0 : size * count;
}

std::size_t count_head(char* /*data*/, std::size_t size, std::size_t count, void* call) {
  auto& here = *static_cast<Call*>(call);
  here.head_bytes += size * count;
  return here.head_bytes > kMostHeaderBytes ? 0 : size * count;
}

/// Called about once a second and at each progress.
int watch(void* call, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const Call*>(call)->terms.stops ? 1 : 0;
}

struct Cleanup {
  void operator()(CURL* curl) const { curl_library().easy_cleanup(curl); }
  void operator()(curl_slist* list) const { curl_library().slist_free_all(list); }
};
using Handle = std::unique_ptr<CURL, Cleanup>;
using Headers = std::unique_ptr<curl_slist, Cleanup>;

/// Null: there is no memory for them.
Headers headers_of(const HookMessage& message) {
  Headers headers;
  // The last one: libcurl would wait for the answer to Expect: 100-continue.
  for (const std::string& line :
       {std::string("Content-Type: application/json"), "Muster-Message: " + message.id,
        "Muster-Signature: " + message.signature, std::string("Expect:")}) {
    curl_slist* longer = curl_library().slist_append(headers.get(), line.c_str());
    if (longer == nullptr) return nullptr;
    static_cast<void>(headers.release());
    headers.reset(longer);
  }
  return headers;
}

/// How one request ended.
struct Reply {
  CURLcode code = CURLE_FAILED_INIT;
  long status = 0;
  std::string redirection;
  Duration pause{};
};

/// False: libcurl takes an option not, which would leave a bound out.
bool prepare(CURL* curl, Call& call, const HookMessage& message, long limit_ms) {
  bool fine = true;
  const auto set = [&](CURLoption option, auto value) {
    fine = fine && curl_library().easy_setopt(curl, option, value) == CURLE_OK;
  };
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_URL, call.to.url.c_str());
  set(CURLOPT_POST, 1L);
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(message.body.size()));
  set(CURLOPT_POSTFIELDS, message.body.data());
  set(CURLOPT_USERAGENT, "muster");
  // Empty: neither a proxy of the environment, which would connect in our place, nor another.
  set(CURLOPT_PROXY, "");
  set(CURLOPT_NOPROXY, "*");
  // Each redirection is checked as the first address is.
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_TIMEOUT_MS, limit_ms);
  set(CURLOPT_OPENSOCKETFUNCTION, &open_socket);
  set(CURLOPT_OPENSOCKETDATA, &call);
  set(CURLOPT_WRITEFUNCTION, &count_bytes);
  set(CURLOPT_WRITEDATA, &call);
  set(CURLOPT_HEADERFUNCTION, &count_head);
  set(CURLOPT_HEADERDATA, &call);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &watch);
  set(CURLOPT_XFERINFODATA, &call);
  // The receiver's certificate has to be right for its name; these are libcurl's defaults.
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  return fine;
}

Reply perform(Call& call, const HookMessage& message, long limit_ms) {
  Reply reply;
  const Handle curl(curl_library().easy_init());
  const Headers headers = headers_of(message);
  if (!curl || !headers || !prepare(curl.get(), call, message, limit_ms)) return reply;
  if (curl_library().easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get()) != CURLE_OK) {
    return reply;
  }
  reply.code = curl_library().easy_perform(curl.get());
  curl_library().easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &reply.status);
  const char* redirection = nullptr;
  curl_library().easy_getinfo(curl.get(), CURLINFO_REDIRECT_URL, &redirection);
  if (redirection != nullptr) reply.redirection = redirection;
  curl_off_t seconds = 0;
  curl_library().easy_getinfo(curl.get(), CURLINFO_RETRY_AFTER, &seconds);
  reply.pause = std::chrono::seconds(std::clamp(seconds, curl_off_t{0}, kLongestWish));
  return reply;
}

/// Why it did not arrive. Names no address and nothing that the receiver has said.
std::string why_not(const Call& call, const Reply& reply) {
  if (call.refused) return "its address is not public, and notify.allow does not name it";
  if (call.bytes > kMostAnswerBytes || call.head_bytes > kMostHeaderBytes) {
    return "its answer is too long";
  }
  if (reply.code != CURLE_OK) return curl_library().easy_strerror(reply.code);
  return fmt::format("it answered {}", reply.status);
}

/// A whole answer, of which only the status counts.
bool has_arrived(const Reply& reply) {
  return reply.code == CURLE_OK && reply.status >= 200 && reply.status < 300;
}

/// A request that is to be sent once more as it is.
bool redirects(const Reply& reply) {
  constexpr std::array<long, 4> kStatuses{301, 302, 307, 308};
  return reply.code == CURLE_OK && !reply.redirection.empty() &&
         std::find(kStatuses.begin(), kStatuses.end(), reply.status) != kStatuses.end();
}

}  // namespace

std::string webhook_fault() {
  const std::string& fault = curl_library().fault;
  return fault.empty() ? "" : "webhooks need libcurl, and this node cannot use it: " + fault;
}

Delivery post_hook(const HookMessage& message, const HookTerms& terms) {
  if (const std::string fault = webhook_fault(); !fault.empty()) return {false, fault, {}};
  auto to = config::parse_hook(message.url);
  if (!to) return {false, "it is no address of a webhook", {}};
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + terms.limit;
  for (int redirections = 0;; ++redirections) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return {false, "it took too long", {}};
    Call call{terms, *std::move(to)};
    const Reply reply = perform(call, message, static_cast<long>(left.count()));
    if (has_arrived(reply)) return {true, {}, {}};
    if (!redirects(reply)) return {false, why_not(call, reply), reply.pause};
    if (redirections >= kMostRedirections) return {false, "it redirects too often", {}};
    to = config::parse_hook(reply.redirection);
    if (!to) return {false, "it redirects to no address of a webhook", {}};
  }
}

}  // namespace muster::notify
