// Commands beside tasks: from the bodies of requests, and from answers to documents.

#include "serve/api/exec_request.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "config/error_list.hpp"
#include "config/request_body.hpp"
#include "model/base64.hpp"
#include "serve/api/log_piece.hpp"

namespace muster::api {
namespace {

using config::RequestMember;
using config::RequestValue;

constexpr std::string_view kBody = "body";
/// Of Linux.
constexpr std::int64_t kLastSignal = 64;
constexpr std::int64_t kMostSize = std::numeric_limits<std::uint16_t>::max();
constexpr std::int64_t kMostPlace = std::numeric_limits<std::int64_t>::max();
/// Of a command in the log of requests.
constexpr std::size_t kShownCommand = 400;

/// Reads one member into the request; false: there is no such key.
using ReadMember = bool (*)(const RequestMember&, ExecRequest&, ErrorList&);

void complain(const RequestMember& member, ErrorList& errors, std::string_view wanted) {
  errors.add(member.value.place, "/" + member.key,
             fmt::format("has to be {}; it is {}", wanted, config::written(member.value)));
}

template <class Number>
void read_number(const RequestMember& member, ErrorList& errors, std::int64_t most, Number& to) {
  const auto* number = std::get_if<std::int64_t>(&member.value.data);
  if (number == nullptr || *number < 0 || *number > most) {
    return complain(member, errors, fmt::format("a whole number from 0 to {}", most));
  }
  to = static_cast<Number>(*number);
}

void read_flag(const RequestMember& member, ErrorList& errors, bool& to) {
  const bool* flag = std::get_if<bool>(&member.value.data);
  if (flag == nullptr) return complain(member, errors, "true or false");
  to = *flag;
}

void read_words(const RequestMember& member, ErrorList& errors, std::vector<std::string>& to) {
  const auto* list = std::get_if<RequestValue::List>(&member.value.data);
  std::size_t bytes = 0;
  bool right = list != nullptr && !list->empty() && list->size() <= kMostExecWords;
  for (std::size_t i = 0; right && i < list->size(); ++i) {
    const auto* word = std::get_if<std::string>(&(*list)[i].data);
    // A program takes its words as they end in C.
    right = word != nullptr && word->find('\0') == std::string::npos && !(i == 0 && word->empty());
    if (!right) break;
    bytes += word->size();
    to.push_back(*word);
  }
  if (right && bytes <= kMostExecBytes) return;
  complain(member, errors,
           fmt::format("a list of 1 to {} texts, {} bytes in all: a program and its arguments",
                       kMostExecWords, kMostExecBytes));
}

void read_term(const RequestMember& member, ErrorList& errors, std::string& to) {
  const auto* text = std::get_if<std::string>(&member.value.data);
  const bool right = text != nullptr && text->size() <= kMostTermBytes &&
                     text->find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-+._") ==
                         std::string::npos;
  if (!right) {
    return complain(member, errors,
                    fmt::format("the name of a terminal's kind like \"xterm\", at most {} letters",
                                kMostTermBytes));
  }
  to = *text;
}

void read_input(const RequestMember& member, ErrorList& errors, std::string& to) {
  const auto* text = std::get_if<std::string>(&member.value.data);
  auto bytes = text == nullptr ? std::nullopt : from_base64(*text);
  if (!bytes || bytes->size() > kMostExecInput) {
    return complain(member, errors, fmt::format("at most {} bytes in base64", kMostExecInput));
  }
  to = *std::move(bytes);
}

bool read_size(const RequestMember& member, ExecRequest& request, ErrorList& errors) {
  if (member.key == "rows") {
    read_number(member, errors, kMostSize, request.rows);
  } else if (member.key == "columns") {
    read_number(member, errors, kMostSize, request.columns);
  } else {
    return false;
  }
  return true;
}

bool read_start(const RequestMember& member, ExecRequest& request, ErrorList& errors) {
  if (read_size(member, request, errors)) return true;
  if (member.key == "argv") {
    read_words(member, errors, request.argv);
  } else if (member.key == "terminal") {
    read_flag(member, errors, request.terminal);
  } else if (member.key == "term") {
    read_term(member, errors, request.term);
  } else {
    errors.add(member.place, "/" + config::shown(member.key),
               unknown_word("key", config::shown(member.key),
                            {"argv", "columns", "rows", "term", "terminal"}));
    return false;
  }
  return true;
}

bool read_step(const RequestMember& member, ExecRequest& request, ErrorList& errors) {
  if (read_size(member, request, errors)) return true;
  if (member.key == "input") {
    read_input(member, errors, request.input);
  } else if (member.key == "input_at") {
    read_number(member, errors, kMostPlace, request.input_at);
  } else if (member.key == "input_ends") {
    read_flag(member, errors, request.input_ends);
  } else if (member.key == "signal") {
    read_number(member, errors, kLastSignal, request.signal);
  } else if (member.key == "out_at") {
    read_number(member, errors, kMostPlace, request.out_at);
  } else if (member.key == "err_at") {
    read_number(member, errors, kMostPlace, request.err_at);
  } else if (member.key == "max_bytes") {
    read_number(member, errors, kMostExecOutput, request.max_bytes);
  } else if (member.key == "ends") {
    read_flag(member, errors, request.ends);
  } else {
    errors.add(member.place, "/" + config::shown(member.key),
               unknown_word("key", config::shown(member.key),
                            {"columns", "ends", "err_at", "input", "input_at", "input_ends",
                             "max_bytes", "out_at", "rows", "signal"}));
    return false;
  }
  return true;
}

Expected<ExecRequest, ConfigError> request_from(std::string_view body, ReadMember read) {
  ExecRequest request;
  const auto members = config::members_from_json(body, std::string(kBody));
  if (!members) return members.error();
  ErrorList errors;
  for (const RequestMember& member : members.value()) read(member, request, errors);
  if (errors.empty()) return request;
  errors.sort_by_line();
  return Failure<ConfigError>{ConfigError::invalid, errors.text(kShownErrors)};
}

Answer refusal_of(const ExecQuery& query, const ExecAnswer& answer) {
  const std::string task = fmt::format("task {} of job {}", query.index, query.job.value);
  const std::string reason = as_utf8(answer.reason);
  switch (answer.trouble) {
    case ExecTrouble::unknown:
      return refusal(404, "not found",
                     fmt::format("there is no such command beside {}: {}", task, reason));
    case ExecTrouble::not_running:
      return refusal(409, "not running", fmt::format("{} does not run: {}", task, reason));
    case ExecTrouble::too_many:
      return refusal(429, "too many", reason);
    case ExecTrouble::unsupported:
      return refusal(409, "unsupported",
                     fmt::format("no command can run beside {}: {}", task, reason));
    default:
      return refusal(409, "not started",
                     fmt::format("no command was started beside {}: {}", task, reason));
  }
}

/// A word as a shell takes it.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-+=._/:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) c == '\'' ? text += "'\\''" : text += c;
  return text + "'";
}

}  // namespace

Expected<ExecRequest, ConfigError> exec_start_from(std::string_view body) {
  auto request = request_from(body, read_start);
  if (request && request->argv.empty()) {
    return Failure<ConfigError>{ConfigError::invalid,
                                "body: /argv: is missing: a program and its arguments"};
  }
  return request;
}

Expected<ExecRequest, ConfigError> exec_step_from(std::string_view body) {
  return request_from(body, read_step);
}

Answer exec_document(const ExecQuery& query, const ExecAnswer& answer) {
  if (answer.trouble != ExecTrouble::none) return refusal_of(query, answer);
  nlohmann::ordered_json document{
      {"job", query.job.value},       {"task", query.index},         {"attempt", answer.attempt},
      {"command", answer.command},    {"input_at", answer.input_at}, {"out_at", answer.out_at},
      {"out", to_base64(answer.out)}, {"err_at", answer.err_at},     {"err", to_base64(answer.err)},
      {"over", answer.over},          {"exit_code", nullptr},        {"reason", nullptr}};
  if (answer.over) document["exit_code"] = answer.exit_code;
  if (!answer.reason.empty()) document["reason"] = as_utf8(answer.reason);
  return {query.request.command == 0 ? 201 : 200, document.dump()};
}

std::string shown_command(std::string_view body) {
  const auto request = exec_start_from(body);
  if (!request) return {};
  std::string line;
  for (const std::string& word : request->argv) {
    if (line.size() > kShownCommand) break;
    if (!line.empty()) line += ' ';
    line += quoted(word);
  }
  const bool is_long = line.size() > kShownCommand;
  line.resize(whole_characters(std::string_view(line).substr(0, kShownCommand)));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return is_long ? line + "..." : line;
}

}  // namespace muster::api
