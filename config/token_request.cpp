#include "config/token_request.hpp"

#include <algorithm>
#include <functional>

#include "config/error_list.hpp"
#include "config/request_body.hpp"
#include "config/request_keys.hpp"
#include "config/request_text.hpp"

// Bodies of requests about tokens: a few members each, all of which are looked at, so that one
// answer says all that is wrong.

namespace muster {
namespace {

using config::RequestMember;

/// A key and its reader, which returns the right form, or nothing where the value is right.
struct TokenKey {
  std::string name;
  std::function<std::string(const config::RequestValue&)> read;
};

std::string read_text(const config::RequestValue& value, std::string& text) {
  const auto* said = std::get_if<std::string>(&value.data);
  if (said == nullptr || said->size() > config::kMaxRequestText || !config::is_label(*said)) {
    return "a text of 1 to " + std::to_string(config::kMaxRequestText) + " bytes in one line, " +
           std::string(config::kLabelRule);
  }
  text = *said;
  return {};
}

std::string read_role(const config::RequestValue& value, Role& role) {
  const auto* said = std::get_if<std::string>(&value.data);
  const auto known = said == nullptr ? std::nullopt : named<Role>(*said);
  if (known) role = *known;
  return known ? "" : one_of(kWords<Role>);
}

/// A number of seconds in a range; null says nothing.
std::string read_time(const config::RequestValue& value, std::int64_t least, std::int64_t most,
                      std::optional<std::int64_t>& seconds) {
  const auto* other = std::get_if<config::RequestValue::Other>(&value.data);
  if (other != nullptr && other->text == "null") return {};
  const auto* said = std::get_if<std::int64_t>(&value.data);
  if (said == nullptr || *said < least || *said > most) {
    return "a whole number of seconds from " + std::to_string(least) + " to " +
           std::to_string(most);
  }
  seconds = *said;
  return {};
}

void read_member(const RequestMember& member, const std::vector<TokenKey>& keys,
                 ErrorList& errors) {
  const auto key = std::find_if(keys.begin(), keys.end(),
                                [&](const TokenKey& each) { return each.name == member.key; });
  if (key == keys.end()) {
    std::vector<std::string> names;
    names.reserve(keys.size());
    for (const TokenKey& each : keys) names.push_back(each.name);
    const std::string name = config::shown(member.key);
    return errors.add(member.place, "/" + name, unknown_word("key", name, names));
  }
  if (const std::string wanted = key->read(member.value); !wanted.empty()) {
    errors.add(member.value.place, "/" + member.key,
               "has to be " + wanted + "; it is " + config::written(member.value));
  }
}

/// Nothing, or what is wrong; `needed`: keys that have to be there.
std::optional<Failure<ConfigError>> read_body(std::string_view text, const std::string& source,
                                              const std::vector<TokenKey>& keys,
                                              const std::vector<std::string>& needed) {
  const auto members = config::members_from_json(text, source);
  if (!members) return members.error();
  ErrorList errors;
  for (const RequestMember& member : members.value()) read_member(member, keys, errors);
  for (const std::string& name : needed) {
    const bool given = std::any_of(members.value().begin(), members.value().end(),
                                   [&](const RequestMember& each) { return each.key == name; });
    if (!given) errors.add({source}, "/" + name, "is missing");
  }
  if (errors.empty()) return std::nullopt;
  errors.sort_by_line();
  return Failure<ConfigError>{ConfigError::invalid, errors.text(kShownErrors)};
}

}  // namespace

Expected<TokenRequest, ConfigError> token_request_from_json(std::string_view text,
                                                            const std::string& source) {
  using Value = config::RequestValue;
  TokenRequest request;
  const std::vector<TokenKey> keys{
      {"name", [&](const Value& value) { return read_text(value, request.name); }},
      {"role", [&](const Value& value) { return read_role(value, request.role); }},
      {"user", [&](const Value& value) { return read_text(value, request.user); }},
      {"lifetime_s", [&](const Value& value) {
         return read_time(value, 1, kLongestLifetimeS, request.lifetime_s);
       }}};
  if (auto fault = read_body(text, source, keys, {"name", "role"})) return *std::move(fault);
  return request;
}

Expected<RotationRequest, ConfigError> rotation_request_from_json(std::string_view text,
                                                                  const std::string& source) {
  RotationRequest request;
  if (text.empty()) return request;
  const std::vector<TokenKey> keys{{"overlap_s", [&](const config::RequestValue& value) {
                                      return read_time(value, 0, kLongestOverlapS,
                                                       request.overlap_s);
                                    }}};
  if (auto fault = read_body(text, source, keys, {})) return *std::move(fault);
  return request;
}

Expected<JoinTokenRequest, ConfigError> join_token_request_from_json(std::string_view text,
                                                                     const std::string& source) {
  JoinTokenRequest request;
  if (text.empty()) return request;
  const std::vector<TokenKey> keys{
      {"hosts",
       [&](const config::RequestValue& value) -> std::string {
         const auto* said = std::get_if<std::int64_t>(&value.data);
         if (said == nullptr || *said < 1 || *said > kMostJoiningHosts) {
           return "a whole number from 1 to " + std::to_string(kMostJoiningHosts);
         }
         request.hosts = static_cast<std::uint32_t>(*said);
         return {};
       }},
      {"lifetime_s", [&](const config::RequestValue& value) {
         std::optional<std::int64_t> lifetime_s;
         std::string fault = read_time(value, 1, kLongestJoinS, lifetime_s);
         request.lifetime_s = lifetime_s.value_or(request.lifetime_s);
         return fault;
       }}};
  if (auto fault = read_body(text, source, keys, {})) return *std::move(fault);
  return request;
}

}  // namespace muster
