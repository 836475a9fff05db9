#include "config/resubmit_request.hpp"

#include <algorithm>

#include "config/error_list.hpp"
#include "config/request_body.hpp"
#include "config/request_keys.hpp"

namespace muster {
namespace {

void read_member(const config::RequestMember& member, ResubmitRequest& request, ErrorList& errors) {
  if (member.key == "failed") {
    const bool* truth = std::get_if<bool>(&member.value.data);
    if (truth != nullptr) {
      request.failed = *truth;
    } else {
      errors.add(member.value.place, "/failed",
                 "has to be true or false; it is " + config::written(member.value));
    }
    return;
  }
  if (member.key != "token" && member.key != "max_fails") {
    const std::string name = config::shown(member.key);
    errors.add(member.place, "/" + name,
               unknown_word("key", name, {"failed", "max_fails", "token"}));
    return;
  }
  // These are what they are in a submission.
  JobRequest submission;
  submission.token = request.token;
  submission.max_fails = request.max_fails;
  const auto& keys = config::request_keys();
  const auto key = std::find_if(keys.begin(), keys.end(), [&](const config::RequestKey& each) {
    return each.name == member.key;
  });
  if (config::read_value(submission, *key, member.value)) {
    request.token = submission.token;
    request.max_fails = submission.max_fails;
  } else {
    errors.add(member.value.place, "/" + member.key,
               "has to be " + config::wanted(*key) + "; it is " + config::written(member.value));
  }
}

}  // namespace

Expected<ResubmitRequest, ConfigError> resubmit_request_from_json(std::string_view text,
                                                                  const std::string& source) {
  ResubmitRequest request;
  // An empty body asks for everything as it was.
  if (text.empty()) return request;
  const auto members = config::members_from_json(text, source);
  if (!members) return members.error();
  ErrorList errors;
  for (const config::RequestMember& member : members.value()) {
    read_member(member, request, errors);
  }
  if (errors.empty()) return request;
  errors.sort_by_line();
  return Failure<ConfigError>{ConfigError::invalid, errors.text(kShownErrors)};
}

}  // namespace muster
