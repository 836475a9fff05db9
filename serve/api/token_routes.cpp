#include "serve/api/token_routes.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/token_request.hpp"

namespace muster::api {
namespace {

using Json = nlohmann::ordered_json;

/// Stands in messages where those about files have the file's name.
constexpr const char* kTokenBody = "body";

Json number_or_null(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string standing_of(const TokenRecord& record, std::int64_t now_s) {
  if (record.revoked_s) return "revoked";
  return record.is_valid_at(now_s) ? "valid" : "expired";
}

Json token_document(const TokenRecord& record, std::int64_t now_s) {
  std::int64_t until_s = 0;
  for (const EarlierToken& each : record.earlier) until_s = std::max(until_s, each.until_s);
  return {{"name", record.name},
          {"role", name_of(record.role)},
          {"user", record.user.empty() ? Json(nullptr) : Json(record.user)},
          {"state", standing_of(record, now_s)},
          {"created_s", record.created_s > 0 ? Json(record.created_s) : Json(nullptr)},
          {"expires_s", number_or_null(record.expires_s)},
          {"revoked_s", number_or_null(record.revoked_s)},
          {"earlier_until_s", now_s < until_s ? Json(until_s) : Json(nullptr)}};
}

/// Names may be what a client has sent: bytes that are no UTF-8 are replaced.
std::string written(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Response issued(const IssuedToken& token, std::int64_t now_s, int status) {
  Json document = token_document(token.record, now_s);
  document["secret"] = token.secret;
  return {.status = status, .body = written(document)};
}

Response refused(const Failure<TokenError>& error) {
  switch (error.code) {
    case TokenError::invalid:
      return error_response(422, error.message);
    case TokenError::unknown:
      return error_response(404, error.message);
    case TokenError::refused:
      return error_response(409, error.message);
    case TokenError::storage:
      break;
  }
  return error_response(500, error.message);
}

Response refused(const Failure<ConfigError>& error) {
  return error_response(error.code == ConfigError::malformed ? 400 : 422, error.message);
}

}  // namespace

Response answer_me(const Principal& who, bool join_port) {
  const Json document{{"token", who.token},
                      {"role", name_of(who.role)},
                      {"user", who.user},
                      {"expires_s", number_or_null(who.expires_s)},
                      {"join_port", join_port}};
  return {.body = written(document)};
}

Response answer_tokens(TokenBook& book) {
  Json list = Json::array();
  for (const TokenRecord& record : book.list()) {
    list.push_back(token_document(record, book.now_s()));
  }
  return {.body = written(Json{{"tokens", std::move(list)}})};
}

Response answer_create(TokenBook& book, const std::string& body, const RequestMark& mark) {
  auto request = token_request_from_json(body, kTokenBody);
  if (!request) return refused(request.error());
  NewToken wanted{request->name, request->role, request->user, request->lifetime_s};
  const auto made = book.create(wanted, mark);
  return made ? issued(made.value(), book.now_s(), 201) : refused(made.error());
}

Response answer_revoke(TokenBook& book, const std::string& name) {
  const auto revoked = book.revoke(name);
  if (!revoked) return refused(revoked.error());
  return {.body = written(token_document(revoked.value(), book.now_s()))};
}

Response answer_rotate(TokenBook& book, const std::string& name, const std::string& body,
                       const RequestMark& mark) {
  const auto request = rotation_request_from_json(body, kTokenBody);
  if (!request) return refused(request.error());
  const auto made = book.rotate(name, request->overlap_s.value_or(TokenBook::kUsualOverlapS), mark);
  return made ? issued(made.value(), book.now_s(), 200) : refused(made.error());
}

}  // namespace muster::api
