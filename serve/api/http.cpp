#include "serve/api/http.hpp"

#include <array>
#include <nlohmann/json.hpp>

namespace muster::api {
namespace {

struct Phrase {
  int status;
  std::string_view words;
};

constexpr std::array kPhrases{
    Phrase{200, "OK"},
    Phrase{201, "Created"},
    Phrase{202, "Accepted"},
    Phrase{204, "No Content"},
    Phrase{400, "Bad Request"},
    Phrase{401, "Unauthorized"},
    Phrase{403, "Forbidden"},
    Phrase{404, "Not Found"},
    Phrase{405, "Method Not Allowed"},
    Phrase{408, "Request Timeout"},
    Phrase{409, "Conflict"},
    Phrase{413, "Content Too Large"},
    Phrase{414, "URI Too Long"},
    Phrase{421, "Misdirected Request"},
    Phrase{422, "Unprocessable Content"},
    Phrase{429, "Too Many Requests"},
    Phrase{431, "Request Header Fields Too Large"},
    Phrase{500, "Internal Server Error"},
    Phrase{501, "Not Implemented"},
    Phrase{503, "Service Unavailable"},
    Phrase{507, "Insufficient Storage"},
};

constexpr int kTooMany = 429;
constexpr int kUnavailable = 503;

}  // namespace

std::string_view reason_phrase(int status) {
  for (const Phrase& phrase : kPhrases) {
    if (phrase.status == status) {
      return phrase.words;
    }
  }
  return "Unknown";
}

std::string default_code(int status) {
  std::string code(reason_phrase(status));
  for (char& letter : code) {
    if (letter >= 'A' && letter <= 'Z') {
      letter = static_cast<char>(letter - 'A' + 'a');
    }
  }
  return code;
}

Answer refusal(int status, const std::string& code, const std::string& message) {
  const nlohmann::ordered_json document{{"error", {{"code", code}, {"message", message}}}};
  // A message may quote bytes that are no UTF-8, for which dump() would throw.
  return {status, document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)};
}

Response to_response(Answer answer) {
  if (reason_phrase(answer.status) == "Unknown") {
    answer = refusal(500, default_code(500), "the cluster gave an answer without a meaning");
  }
  Response response{.status = answer.status,
                    .body = std::move(answer.json),
                    .content_type = answer.content_type,
                    .headers = std::move(answer.headers)};
  if (answer.status == kTooMany || answer.status == kUnavailable) {
    response.headers.emplace_back("Retry-After", "1");
  }
  return response;
}

Response error_response(int status, const std::string& message) {
  return to_response(refusal(status, default_code(status), message));
}

}  // namespace muster::api
