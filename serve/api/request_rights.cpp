#include "serve/api/request_rights.hpp"

#include <fmt/format.h>

#include <string>

#include "model/submission_key.hpp"

namespace muster::api {
namespace {

std::string why_not(const Principal& who, int most, const JobRequest& request) {
  if (who.role == Role::admin) return {};
  if (request.user != who.user) {
    return fmt::format(
        "user: the token '{}' acts for '{}' and not for '{:.256}'; leave the field out", who.token,
        who.user, request.user);
  }
  if (request.priority <= most) return {};
  return fmt::format(
      "priority: the token '{}' of the role user may give at most {}, and not {} "
      "(api.max_user_priority of the cluster file); an admin's token may give any",
      who.token, most, request.priority);
}

}  // namespace

bool put_user(const RequestRights& rights, JobRequest& request) {
  if (request.user.empty()) request.user = rights.who.user;
  request.token = scoped_token(rights.who.user, request.token);
  const std::string why = why_not(rights.who, rights.most_priority, request);
  if (!why.empty()) rights.exchange.finish(error_response(403, why));
  return why.empty();
}

}  // namespace muster::api
