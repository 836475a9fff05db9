// Orders, and changes of tokens: requests that a client sends again when the answer does not come.
// Each has a number of its own, so that what comes again is answered as it was, or would have been,
// the first time. All that waits for a disk is done at the two desks.

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "serve/api/api.hpp"
#include "serve/api/request_mark.hpp"
#include "serve/api/token_routes.hpp"

namespace muster::api {
namespace {

constexpr int kNotFound = 404, kConflict = 409, kTooManyNow = 429, kServerFault = 500;

/// Digest of the request that the number stands for. With another token it is another request.
TokenDigest asks_of(std::string_view method, std::string_view path, const Principal& who) {
  return digest_of(fmt::format("{}\n{}\n{}\n{}", method, path, who.token, who.user));
}

/// The path of an order, which has no body: all that it says.
std::string path_of(const Route& route, const Match& found) {
  std::string path(route.pattern);
  for (std::size_t i = 0;; ++i) {
    const std::size_t begin = path.find('{');
    if (begin == std::string::npos) return path;
    const std::size_t end = path.find('}', begin);
    const std::string said = found.name.empty() ? std::to_string(found.numbers.at(i)) : found.name;
    path.replace(begin, end + 1 - begin, said);
  }
}

/// The message of a refusal, with more behind it.
Answer with_more(const Answer& answer, std::string_view more) {
  const auto document = nlohmann::json::parse(answer.json, nullptr, false);
  if (!document.is_object() || !document.contains("error")) return answer;
  const auto& error = document["error"];
  return refusal(answer.status, error.value("code", ""),
                 fmt::format("{}; {}", error.value("message", ""), more));
}

bool is_cancelled(const Answer& job) {
  const auto document = nlohmann::json::parse(job.json, nullptr, false);
  return document.is_object() && document.value("state", nlohmann::json()) == "cancelled";
}

}  // namespace

Expected<RequestMark, int> mark_of(const RequestHead& head) {
  RequestMark mark;
  std::string_view number = head.number;
  // Some write it as the text of a structured field.
  if (number.size() > 1 && number.front() == '"' && number.back() == '"') {
    number = number.substr(1, number.size() - 2);
  }
  if (!head.number.empty()) {
    const std::string fault = request_number_fault(number);
    if (!fault.empty()) return Failure<int>{400, "Idempotency-Key: " + fault};
    mark.number = number;
  }
  if (head.sent.empty()) return mark;
  const char* end = head.sent.data() + head.sent.size();
  const auto [rest, error] = std::from_chars(head.sent.data(), end, mark.sent);
  if (error == std::errc{} && rest == end && mark.sent > 0) return mark;
  return Failure<int>{400,
                      "Muster-Sent: has to be a whole number from 1, which grows with each "
                      "time that the request is sent"};
}

bool is_order(const Route& route) {
  switch (route.operation) {
    case Operation::cancel:
    case Operation::hold:
    case Operation::release:
    case Operation::scale:
    case Operation::drain:
    case Operation::interrupt:
    case Operation::revoke_token:
      return true;
    default:
      return false;
  }
}

NumberedRequest Api::numbered(const Call& call) {
  const std::string path = path_of(call.route, call.pass.found);
  return {call.mark.number, asks_of(call.route.method, path, call.pass.who), call.pass.who.token};
}

/// Answers an order that was carried out before as then; else notes that it begins.
void Api::recognise(Call call) {
  parts_.orders->post([self = shared_from_this(), call = std::move(call)]() mutable {
    const OrderStanding standing = self->parts_.requests->begin(numbered(call));
    if (standing.other) {
      return call.exchange->finish(error_response(
          kConflict, fmt::format("Idempotency-Key: '{}' is the number of another request: send "
                                 "one of its own with each",
                                 call.mark.number)));
    }
    if (standing.answer) {
      return call.exchange->finish(to_response({standing.answer->status, standing.answer->json}));
    }
    call.begun = standing.begun;
    self->go_on(std::move(call));
  });
}

Reply Api::reply_to_order(const Call& call) {
  return [self = shared_from_this(), call](Answer answer) {
    const bool has_number = self->parts_.requests && !call.mark.number.empty();
    if (!has_number) return call.exchange->finish(to_response(std::move(answer)));
    const bool cancels = call.route.operation == Operation::cancel;
    if (call.begun && cancels && answer.status == kConflict) {
      return self->look_whether_cancelled(call, std::move(answer));
    }
    if (call.begun && answer.status == kNotFound) {
      answer = with_more(answer, "this request was sent before, and may have ended it");
    }
    self->answer_order(call, std::move(answer));
  };
}

/// A cancel without an answer has been carried out if the job has ended so.
void Api::look_whether_cancelled(const Call& call, Answer refusal) {
  View job{.of = Operation::job};
  job.job = JobId{call.pass.found.numbers.at(0)};
  job.limit = 1;
  backend_.view(job, [self = shared_from_this(), call, refusal = std::move(refusal),
                      number = job.job.value](const Answer& shown) {
    const bool done = is_cancelled(shown);
    self->answer_order(call, done ? Answer{200, fmt::format(R"({{"job": {}}})", number)} : refusal);
  });
}

/// Keeps the answer before it goes. An answer that another try may improve is not kept.
void Api::answer_order(const Call& call, Answer answer) {
  parts_.orders->post([self = shared_from_this(), call, answer = std::move(answer)]() mutable {
    if (answer.status < kServerFault && answer.status != kTooManyNow) {
      self->parts_.requests->end(numbered(call), {answer.status, answer.json});
    }
    call.exchange->finish(to_response(std::move(answer)));
  });
}

/// It takes effect when it is on the disk.
void Api::change_token(Call call) {
  parts_.tokens->post([self = shared_from_this(), call = std::move(call)] {
    TokenBook& book = self->gate_.tokens();
    const std::string& name = call.pass.found.name;
    switch (call.route.operation) {
      case Operation::create_token:
        return call.exchange->finish(answer_create(book, call.body, call.mark));
      case Operation::rotate_token:
        return call.exchange->finish(answer_rotate(book, name, call.body, call.mark));
      default:
        break;
    }
    const Response revoked = answer_revoke(book, name);
    self->reply_to_order(call)({revoked.status, revoked.body});
  });
}

}  // namespace muster::api
