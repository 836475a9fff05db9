// Rights of tokens: the requests that each role may make. The reason of a refusal is of use to the
// holder of a token; without a token no client learns which paths there are.

#include "serve/api/gate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/request_text.hpp"
#include "serve/api/query.hpp"

namespace muster::api {
namespace {

/// The route for the method; a HEAD is a GET whose body is not sent.
const Route* route_for(const Match& found, std::string_view method) {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  const auto place =
      std::ranges::find(found.routes, wanted, [](const Route* route) { return route->method; });
  return place == found.routes.end() ? nullptr : *place;
}

// Every path knows OPTIONS, and HEAD where there is a GET.
std::string allowed_methods(const Match& found) {
  std::string methods = "OPTIONS";
  for (const Route* route : found.routes) {
    methods += fmt::format(", {}", route->method);
    methods += route->method == "GET" ? ", HEAD" : "";
  }
  return methods;
}

Response wrong_method(const RequestHead& head, const Match& found) {
  const std::string methods = allowed_methods(found);
  Response response{.status = 204};
  if (head.method != "OPTIONS") {
    response = error_response(
        405, fmt::format("{} is not possible here; possible are {}", head.method, methods));
  }
  response.headers.emplace_back("Allow", methods);
  return response;
}

bool may_use(Access access, Role role) {
  switch (access) {
    case Access::open:
    case Access::all:
    case Access::owners_and_readers:
      return true;
    case Access::users:
    case Access::owners:
      return role != Role::read_only;
    case Access::admins:
      break;
  }
  return role == Role::admin;
}

Response not_for_role(const Principal& who, const Route& route) {
  const std::string_view whose =
      route.access == Access::admins ? "an admin's token" : "a user's or an admin's token";
  return error_response(
      403, fmt::format("{} {} needs {}; '{}' is a token with the role {}", route.method,
                       route.pattern, whose, who.token, name_of(who.role)));
}

/// A token without a user acts for the user that the caller names, as its holder may name any user.
/// The fault of that name; a name never acts for another user.
std::optional<Response> put_user(const RequestHead& head, Principal& who) {
  if (!who.user.empty()) return std::nullopt;
  who.user = head.caller.empty() ? std::string(kAnonymous) : head.caller;
  if (head.caller.empty()) return std::nullopt;
  std::string fault = token_user_fault(head.caller);
  if (fault.empty() && !config::is_label(head.caller)) {
    fault = fmt::format("has to be UTF-8 text in one line, {}", config::kLabelRule);
  }
  if (fault.empty()) return std::nullopt;
  return error_response(400, "Muster-Caller: " + fault);
}

}  // namespace

/// Refuses who has no token that is valid; says in `pass` who has.
std::optional<Response> Gate::stranger(const RequestHead& head, Pass& pass) const {
  if (std::ranges::any_of(pass.found.routes,
                          [](const Route* route) { return route->access == Access::open; })) {
    return std::nullopt;
  }
  Admission admission = tokens_->who(head.authorization);
  if (admission.who) {
    pass.who = *std::move(admission.who);
    return put_user(head, pass.who);
  }
  Response response = error_response(401, admission.why);
  response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"muster\"");
  return response;
}

/// Needs the head alone, so that the connection can refuse a request before it reads the body.
Pass Gate::look(const RequestHead& head) const {
  Pass pass;
  const auto refuse = [&](Response response) {
    pass.refused = std::move(response);
    return pass;
  };
  if (!head.target.starts_with('/')) {
    return refuse(error_response(400, "the request's target has to be a path that begins with /"));
  }
  const std::string_view path = split_target(head.target).path;
  pass.found = match(path);
  pass.route = route_for(pass.found, head.method);
  if (!hosts_.has(head.host)) {
    return refuse(error_response(
        421,
        fmt::format("this API is not called '{:.100}' but by {}; api.hosts of the cluster file "
                    "may name others",
                    head.host, hosts_.text())));
  }
  if (auto refused = stranger(head, pass)) return refuse(*std::move(refused));
  if (pass.found.routes.empty()) {
    return refuse(error_response(404, fmt::format("there is nothing at {:.200}; GET "
                                                  "/v1/openapi.json lists the paths there are",
                                                  path)));
  }
  if (pass.route == nullptr) return refuse(wrong_method(head, pass.found));
  if (!may_use(pass.route->access, pass.who.role)) {
    return refuse(not_for_role(pass.who, *pass.route));
  }
  return pass;
}

bool only_own_jobs(const Route& route, Role role) {
  return role == Role::user &&
         (route.access == Access::owners || route.access == Access::owners_and_readers);
}

}  // namespace muster::api
