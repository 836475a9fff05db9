// Sends requests to the cluster's APIs by libcurl. A failure that may pass is tried again, at each
// API in turn and then after a pause that doubles, until `retry_for` is over.

#include "tools/client/api_client.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "config/numbers.hpp"
#include "model/check.hpp"
#include "tools/client/printable.hpp"

namespace muster::client {
namespace {

using Steady = std::chrono::steady_clock;

constexpr int kDeepestAnswer = 64;
constexpr std::size_t kShownBytes = 300;
/// A try that has less time than this would only hide why the earlier ones have failed.
constexpr Duration kShortestTry = std::chrono::seconds{1};
/// Less patience than this is none: a try that was given all that was left may end a little early.
constexpr Duration kNotWorthATry = std::chrono::milliseconds{20};

/// Never 0, which libcurl takes for its default: no limit, for a whole request.
long milliseconds(Duration duration) {
  return static_cast<long>(
      std::chrono::ceil<std::chrono::milliseconds>(std::max(duration, Duration{1})).count());
}

bool is_loopback(const std::string& url) {
  const std::size_t begin = url.find("//") + 2;
  const std::string_view host = std::string_view(url).substr(begin);
  return host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]");
}

/// An answer that is deeper or larger than any real one is not worth its memory.
std::optional<nlohmann::json> parse_object(const std::string& text) {
  bool too_deep = false;
  const auto watch = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    too_deep |= depth > kDeepestAnswer;
    return !too_deep;
  };
  nlohmann::json document = nlohmann::json::parse(text, watch, false);
  if (too_deep || !document.is_object()) return std::nullopt;
  return document;
}

/// The message of {"error": {"code": ..., "message": ...}}; empty when the document is no such.
std::string error_message(const std::string& body) {
  const auto document = parse_object(body);
  if (!document) return "";
  const auto error = document->find("error");
  if (error == document->end() || !error->is_object()) return "";
  const auto message = error->find("message");
  if (message == error->end() || !message->is_string()) return "";
  return printable_lines(message->get<std::string>());
}

}  // namespace

struct ApiClient::Request {
  std::string path;
  const std::string* body = nullptr;  ///< null: a GET
  Elsewhere elsewhere = Elsewhere::always;
  Duration answered_after{};  ///< the server may wait so long
};

/// What one try came to.
struct ApiClient::Reply {
  CURLcode code = CURLE_OK;
  long status = 0;
  Duration retry_after{};  ///< as the server asked; 0: it did not
  std::string body;
  std::map<std::string, std::string> headers;  ///< names in small letters
  bool too_large = false;
  std::string reason;  ///< of a failed transfer

  /// Nothing listens there, or the address is none.
  bool nobody_there() const {
    return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST;
  }
  /// It may go better the next time.
  bool passing() const {
    if (too_large) return false;
    switch (code) {
      case CURLE_OK:
        return status == 429 || status == 502 || status == 503 || status == 504;
      case CURLE_COULDNT_CONNECT:
      case CURLE_COULDNT_RESOLVE_HOST:
      case CURLE_OPERATION_TIMEDOUT:
      case CURLE_GOT_NOTHING:
      case CURLE_SEND_ERROR:
      case CURLE_RECV_ERROR:
      case CURLE_PARTIAL_FILE:
        return true;
      default:
        return false;
    }
  }
};

/// A libcurl handle, which keeps its connection from one request to the next.
class ApiClient::Transfer {
 public:
  Transfer(const ClusterContext& context, const ApiOptions& options) : options_(options) {
    static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
    MUSTER_CHECK(kReady == CURLE_OK, "libcurl does not start");
    curl_.reset(curl_easy_init());
    MUSTER_CHECK(curl_ != nullptr, "libcurl gives no handle");
    add_header("Authorization: Bearer " + context.token);
    add_header("Accept: application/json");
    add_header("Content-Type: application/json");
    // Empty: libcurl would announce large bodies by Expect: 100-continue and wait for the answer.
    add_header("Expect:");
    set_fixed_options();
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  Reply perform(const std::string& api, const Request& request, Duration limit);

 private:
  struct Cleanup {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };
  struct Sink {
    Reply& reply;
    std::size_t limit;
  };

  void add_header(const std::string& line) {
    curl_slist* longer = curl_slist_append(headers_.get(), line.c_str());
    MUSTER_CHECK(longer != nullptr, "libcurl takes no header");
    // The list's head stays the same but for the first line.
    static_cast<void>(headers_.release());
    headers_.reset(longer);
  }
  template <class Value>
  void set(CURLoption option, Value value) {
    const CURLcode code = curl_easy_setopt(curl_.get(), option, value);
    MUSTER_CHECK(code == CURLE_OK, "libcurl takes no such option");
  }
  void set_fixed_options();

  static std::size_t take(char* data, std::size_t size, std::size_t count, void* sink) {
    auto& [reply, limit] = *static_cast<Sink*>(sink);
    const std::size_t bytes = size * count;
    if (reply.body.size() + bytes > limit) {
      // A count other than that offered ends the transfer.
      reply.too_large = true;
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
  static int watch(void* options, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    const auto& stop_asked = static_cast<const ApiOptions*>(options)->stop_asked;
    return stop_asked && stop_asked() ? 1 : 0;
  }

  const ApiOptions& options_;
  std::unique_ptr<CURL, Cleanup> curl_;
  std::unique_ptr<curl_slist, Cleanup> headers_;
  std::array<char, CURL_ERROR_SIZE> reason_{};
};

void ApiClient::Transfer::set_fixed_options() {
  set(CURLOPT_HTTPHEADER, headers_.get());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  // Timeouts by signals are not safe in a process with threads.
  set(CURLOPT_NOSIGNAL, 1L);
  // The API never redirects: whoever does is something else.
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_USERAGENT, "muster");
  set(CURLOPT_ERRORBUFFER, reason_.data());
  set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(options_.connect_timeout));
  set(CURLOPT_WRITEFUNCTION, &Transfer::take);
  set(CURLOPT_HEADERFUNCTION, &Transfer::take_header);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &Transfer::watch);
  set(CURLOPT_XFERINFODATA, const_cast<ApiOptions*>(&options_));
}

ApiClient::Reply ApiClient::Transfer::perform(const std::string& api, const Request& request,
                                              Duration limit) {
  Reply reply;
  Sink sink{reply, options_.max_answer_bytes};
  reason_.front() = '\0';
  set(CURLOPT_URL, (api + request.path).c_str());
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
  reply.code = curl_easy_perform(curl_.get());
  curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &reply.status);
  curl_off_t seconds = 0;
  curl_easy_getinfo(curl_.get(), CURLINFO_RETRY_AFTER, &seconds);
  // A day: any number of seconds may come, and a Duration is in ns.
  constexpr curl_off_t kLongestWish = 86'400;
  reply.retry_after = std::chrono::seconds(std::clamp(seconds, curl_off_t{0}, kLongestWish));
  reply.reason = reason_.front() != '\0' ? reason_.data() : curl_easy_strerror(reply.code);
  return reply;
}

ApiClient::ApiClient(ClusterContext context, ApiOptions options)
    : context_(std::move(context)), options_(std::move(options)), apis_{context_.api} {
  apis_.insert(apis_.end(), context_.others.begin(), context_.others.end());
  if (!options_.pause) {
    options_.pause = [](Duration length) {
      std::this_thread::sleep_for(length);
      return true;
    };
  }
  transfer_ = std::make_unique<Transfer>(context_, options_);
}

ApiClient::~ApiClient() = default;

Expected<Answer, ClientError> ApiClient::get(const std::string& path, Duration answered_after) {
  return ask({path, nullptr, Elsewhere::always, answered_after});
}

Expected<Answer, ClientError> ApiClient::post(const std::string& path, const std::string& body,
                                              Elsewhere elsewhere) {
  return ask({path, &body, elsewhere});
}

Expected<Answer, ClientError> ApiClient::ask(const Request& request) {
  auto reply = try_for_long(request);
  if (!reply) return reply.error();
  auto document = parse_object(reply->body);
  if (document) return Answer{std::move(reply->body), *std::move(document)};
  return Failure<ClientError>{
      ClientError::malformed,
      fmt::format("{} answers with what is no JSON object: is it Muster's API? It says: "
                  "{}",
                  api(), printable(reply->body.substr(0, kShownBytes)))};
}

Expected<BytesAnswer, ClientError> ApiClient::get_bytes(const std::string& path) {
  auto reply = try_for_long({path});
  if (!reply) return reply.error();
  return BytesAnswer{std::move(reply->body), std::move(reply->headers)};
}

/// How long a try may last of a request that has been tried for so long. It leaves as much to each
/// of the `others`, the APIs that can be asked next.
Duration ApiClient::limit_of_try(const Request& request, Duration tried, std::size_t others) const {
  const bool alone = options_.retry_for <= Duration::zero();
  const Duration left = alone ? options_.request_timeout : options_.retry_for - tried;
  const Duration share = left / static_cast<Duration::rep>(others + 1);
  const Duration longest = others > 0 ? options_.other_api_after : options_.request_timeout;
  const Duration limit = std::max(kShortestTry, std::min(share, longest));
  return std::min(options_.request_timeout, limit + request.answered_after);
}

Expected<ApiClient::Reply, ClientError> ApiClient::try_for_long(const Request& request) {
  const auto begin = Steady::now();
  Duration pause = options_.first_pause;
  std::size_t asked = 0;  // APIs since the last pause
  bool movable = request.elsewhere != Elsewhere::never;
  bool said = false;
  while (true) {
    // Nobody can be asked instead once a change that may be made once has been sent.
    const bool may_be_cut_short = request.elsewhere == Elsewhere::always;
    const std::size_t next =
        may_be_cut_short ? apis_.size() - std::min(asked + 1, apis_.size()) : 0;
    const Duration limit = limit_of_try(request, Steady::now() - begin, next);
    Reply reply = transfer_->perform(api(), request, limit);
    if (!reply.passing()) {
      if (auto failure = failure_of(reply)) return *std::move(failure);
      return reply;
    }
    const Duration tried = Steady::now() - begin;
    const Duration patience = reply.nobody_there()
                                  ? std::min(options_.refused_for, options_.retry_for)
                                  : options_.retry_for;
    // A change that may have arrived must not be made a second time elsewhere. That nobody was
    // there proves that it has not arrived.
    movable &= request.elsewhere == Elsewhere::always || reply.nobody_there();
    const bool others_left = movable && ++asked < apis_.size();
    const Duration left = patience - tried;
    const bool too_late = left <= kNotWorthATry || reply.retry_after > left;
    if (!others_left && too_late) {
      Failure<ClientError> failure = give_up(reply, tried);
      if (request.elsewhere == Elsewhere::never && apis_.size() > 1) {
        failure.message += "; no other API was asked, for its site does not know your tokens";
      }
      return failure;
    }
    if (!others_left && !std::exchange(said, true) && options_.on_retry) {
      options_.on_retry(give_up(reply, tried).message);
    }
    if (movable) current_ = (current_ + 1) % apis_.size();
    if (others_left) continue;
    asked = 0;
    const Duration wait = std::min(std::max(pause, reply.retry_after), left);
    if (!options_.pause(wait)) return Failure<ClientError>{ClientError::stopped, "stopped"};
    pause = std::min(pause * 2, options_.longest_pause);
  }
}

Failure<ClientError> ApiClient::give_up(const Reply& reply, Duration tried) const {
  if (reply.nobody_there()) {
    return {
        ClientError::unreachable,
        fmt::format("nothing answers at {}; start one with `muster up`", fmt::join(apis_, ", "))};
  }
  const std::string seconds = fmt::format("{:.0f}", to_seconds(tried));
  if (reply.code != CURLE_OK) {
    return {ClientError::unanswered,
            fmt::format("no answer from {} in {} s: {}", api(), seconds, reply.reason)};
  }
  std::string why = error_message(reply.body);
  if (why.empty()) why = fmt::format("HTTP status {}", reply.status);
  return {ClientError::unavailable, fmt::format("the cluster at {} cannot do it at present: {} "
                                                "(tried for {} s)",
                                                api(), why, seconds)};
}

/// What an answer that will not get better is about, if it is none to be glad of.
std::optional<Failure<ClientError>> ApiClient::failure_of(const Reply& reply) const {
  using Failed = Failure<ClientError>;
  if (reply.too_large) {
    return Failed{ClientError::malformed, fmt::format("the answer of {} is larger than {} bytes",
                                                      api(), options_.max_answer_bytes)};
  }
  if (reply.code == CURLE_ABORTED_BY_CALLBACK) return Failed{ClientError::stopped, "stopped"};
  if (reply.code != CURLE_OK) {
    return Failed{ClientError::unreachable,
                  fmt::format("cannot talk to {}: {}", api(), reply.reason)};
  }
  if (reply.status == 401) {
    return Failed{ClientError::unauthorized, fmt::format("{} does not accept the token from {}",
                                                         api(), context_.token_source)};
  }
  if (reply.status >= 200 && reply.status < 300) return std::nullopt;
  std::string message = error_message(reply.body);
  if (message.empty()) {
    message = fmt::format("{} answers with HTTP status {} and no reason", api(), reply.status);
  }
  const ClientError code = reply.status == 404   ? ClientError::not_found
                           : reply.status == 409 ? ClientError::conflict
                                                 : ClientError::refused;
  return Failed{code, message};
}

std::string url_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    escaped += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return escaped;
}

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
  MUSTER_CHECK(got == static_cast<ssize_t>(bytes.size()), "the system gives no random bytes");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace muster::client
