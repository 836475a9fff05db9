// Sends requests to the cluster's APIs (docs/api.md). A failure that may pass is tried again, at
// each API in turn and then after a pause that doubles, until `retry_for` is over.

#include "tools/client/api_client.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <optional>
#include <thread>
#include <utility>

#include "config/numbers.hpp"
#include "model/check.hpp"
#include "model/hexadecimal.hpp"
#include "tools/client/printable.hpp"

namespace muster::client {
namespace {

using Steady = std::chrono::steady_clock;

/// Levels of nested JSON; the API's deepest answer has far fewer.
constexpr int kDeepestAnswer = 64;
/// Of an answer that is no JSON: enough to recognise a proxy's error page.
constexpr std::size_t kShownBytes = 300;
/// A try that has less time than this would only hide why the earlier ones have failed.
constexpr Duration kShortestTry = std::chrono::seconds{1};
/// Less patience than this is none: a try that was given all that was left may end a little early.
constexpr Duration kNotWorthATry = std::chrono::milliseconds{20};

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
  HttpRequest http;
  Elsewhere elsewhere = Elsewhere::always;
  Duration answered_after{};  ///< time that the server may wait
};

namespace {

/// It may go better the next time.
bool passing(const HttpReply& reply) {
  if (reply.outcome == Outcome::nobody_there || reply.outcome == Outcome::lost) return true;
  const long status = reply.status;
  return reply.outcome == Outcome::answered &&
         (status == 429 || status == 502 || status == 503 || status == 504);
}

/// A mark of a sending: microseconds, so that those of another process with the number of this
/// request come in their order as well.
std::int64_t later_than(std::int64_t before) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();  // NOLINT: see above
  return std::max(before + 1,
                  std::int64_t{std::chrono::duration_cast<std::chrono::microseconds>(now).count()});
}

}  // namespace

ApiClient::ApiClient(ClusterContext context, ApiOptions options)
    : context_(std::move(context)), options_(std::move(options)), apis_{context_.api} {
  apis_.insert(apis_.end(), context_.others.begin(), context_.others.end());
  if (!options_.pause) {
    options_.pause = [](Duration length) {
      std::this_thread::sleep_for(length);
      return true;
    };
  }
}

/// One try at the present API, by the means that it takes.
HttpReply ApiClient::perform(const HttpRequest& request, Duration limit) {
  const bool plain = takes_plain(api());
  std::unique_ptr<Transfer>& transfer = plain ? plain_ : curl_;
  if (transfer == nullptr) {
    const TransferOptions options{
        context_.token,           options_.caller,           context_.ca,
        options_.connect_timeout, options_.max_answer_bytes, options_.stop_asked};
    transfer = plain ? plain_transfer(options) : curl_transfer(options);
  }
  return transfer->perform(api(), request, limit);
}

ApiClient::~ApiClient() = default;

Expected<Answer, ClientError> ApiClient::get(const std::string& path, Duration answered_after) {
  return ask({{path}, Elsewhere::always, answered_after});
}

Expected<Answer, ClientError> ApiClient::post(const std::string& path, const std::string& body,
                                              Elsewhere elsewhere, const std::string& number) {
  return ask({{path, &body, number.empty() ? random_token() : number}, elsewhere});
}

Expected<Answer, ClientError> ApiClient::ask(const Request& request) {
  auto reply = try_for_long(request);
  if (!reply) return reply.error();
  auto document = parse_object(reply->body);
  if (document) return Answer{std::move(reply->body), *std::move(document)};
  return Failure<ClientError>{
      ClientError::malformed,
      fmt::format("{} did not answer with a JSON object: is it Muster's API? It says: "
                  "{}",
                  api(), printable(reply->body.substr(0, kShownBytes)))};
}

Expected<BytesAnswer, ClientError> ApiClient::get_bytes(const std::string& path) {
  auto reply = try_for_long({{path}});
  if (!reply) return reply.error();
  return BytesAnswer{std::move(reply->body), std::move(reply->headers)};
}

/// Time for one try of a request that has been tried for `tried` so far. It leaves as much to each
/// of the `others`, the APIs that can be asked next.
Duration ApiClient::limit_of_try(const Request& request, Duration tried, std::size_t others) const {
  const bool alone = options_.retry_for <= Duration::zero();
  const Duration left = alone ? options_.request_timeout : options_.retry_for - tried;
  const Duration share = left / static_cast<Duration::rep>(others + 1);
  const Duration longest = others > 0 ? options_.other_api_after : options_.request_timeout;
  const Duration limit = std::max(kShortestTry, std::min(share, longest));
  return std::min(options_.request_timeout, limit + request.answered_after);
}

Expected<HttpReply, ClientError> ApiClient::try_for_long(const Request& request) {
  const auto begin = Steady::now();
  Duration pause = options_.first_pause;
  std::size_t asked = 0;  // APIs since the last pause
  bool movable = request.elsewhere != Elsewhere::never;
  bool said = false;
  HttpRequest sending = request.http;
  while (true) {
    // No other API can be asked once a change that may be made once has been sent.
    const bool may_be_cut_short = request.elsewhere == Elsewhere::always;
    const std::size_t next =
        may_be_cut_short ? apis_.size() - std::min(asked + 1, apis_.size()) : 0;
    const Duration limit = limit_of_try(request, Steady::now() - begin, next);
    if (sending.body != nullptr) sending.sent = later_than(sending.sent);
    HttpReply reply = perform(sending, limit);
    if (!passing(reply)) {
      if (auto failure = failure_of(reply)) return *std::move(failure);
      return reply;
    }
    const Duration tried = Steady::now() - begin;
    const Duration patience = reply.outcome == Outcome::nobody_there
                                  ? std::min(options_.refused_for, options_.retry_for)
                                  : options_.retry_for;
    // A change that may have arrived must not be made a second time elsewhere. A refused connection
    // proves that it has not arrived.
    movable &= request.elsewhere == Elsewhere::always || reply.outcome == Outcome::nobody_there;
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

Failure<ClientError> ApiClient::give_up(const HttpReply& reply, Duration tried) const {
  if (reply.outcome == Outcome::nobody_there) {
    return {
        ClientError::unreachable,
        fmt::format("nothing answers at {}; start one with `muster up`", fmt::join(apis_, ", "))};
  }
  const std::string seconds = fmt::format("{:.0f}", to_seconds(tried));
  if (reply.outcome != Outcome::answered) {
    return {ClientError::unanswered,
            fmt::format("no answer from {} in {} s: {}", api(), seconds, reply.reason)};
  }
  std::string why = error_message(reply.body);
  if (why.empty()) why = fmt::format("HTTP status {}", reply.status);
  return {ClientError::unavailable, fmt::format("the cluster at {} cannot do it at present: {} "
                                                "(tried for {} s)",
                                                api(), why, seconds)};
}

/// The failure that an answer stands for, if it is one that will not get better.
std::optional<Failure<ClientError>> ApiClient::failure_of(const HttpReply& reply) const {
  using Failed = Failure<ClientError>;
  if (reply.outcome == Outcome::too_large) {
    return Failed{ClientError::malformed, fmt::format("the answer of {} is larger than {} bytes",
                                                      api(), options_.max_answer_bytes)};
  }
  if (reply.outcome == Outcome::stopped) return Failed{ClientError::stopped, "stopped"};
  if (reply.outcome != Outcome::answered) {
    // Whose certificate to trust is the caller's to say, so how it is said belongs to the message.
    const std::string hint =
        reply.distrusted ? "; --ca FILE names the authority that made its certificate" : "";
    return Failed{ClientError::unreachable,
                  fmt::format("cannot talk to {}: {}{}", api(), reply.reason, hint)};
  }
  if (reply.status == 401) {
    const std::string why = error_message(reply.body);
    return Failed{ClientError::unauthorized,
                  fmt::format("{} does not accept the token from {}{}{}", api(),
                              context_.token_source, why.empty() ? "" : ": ", why)};
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

std::vector<std::string> repeat_headers(const HttpRequest& request) {
  if (request.body == nullptr) return {};
  return {"Idempotency-Key: " + request.number, fmt::format("Muster-Sent: {}", request.sent)};
}

// By hand: no letter depends on a locale.
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
  // 128 bits: two submissions never choose the same token by chance.
  std::array<unsigned char, 16> bytes{};
  const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
  MUSTER_CHECK(got == static_cast<ssize_t>(bytes.size()), "the system gives no random bytes");
  return hexadecimal(bytes);
}

}  // namespace muster::client
