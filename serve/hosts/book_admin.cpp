#include "serve/hosts/book_admin.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "config/token_request.hpp"

namespace muster::hosts {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kCreated = 201;

std::string document_text(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json host_document(const HostRow& row) {
  Json labels = Json::object();
  for (const auto& [key, text] : row.labels) labels[key] = text;
  return {{"host", row.number},
          {"name", row.name},
          {"type", row.type},
          {"state", name_of(row.state)},
          {"drained", row.drained},
          {"cpus", row.measured.cpus},
          {"memory_gib", row.measured.memory_gib},
          {"gpus", row.measured.gpus},
          {"storage_gib", row.measured.storage_gib},
          {"labels", labels},
          {"instance", row.instance ? Json(row.instance->value) : Json(nullptr)},
          {"heard_s", row.heard_s ? Json(*row.heard_s) : Json(nullptr)},
          {"trouble", row.trouble},
          {"own_checkpoints", row.own_checkpoints ? Json(*row.own_checkpoints) : Json(nullptr)}};
}

std::string standing_of(const JoinTokenRow& token, std::int64_t now_s) {
  if (token.revoked) return "revoked";
  if (now_s >= token.expires_s) return "expired";
  return token.used >= token.hosts ? "used" : "valid";
}

Json token_document(const JoinTokenRow& token, std::int64_t now_s) {
  return {
      {"id", token.id},     {"state", standing_of(token, now_s)}, {"hosts", token.hosts},
      {"used", token.used}, {"created_s", token.created_s},       {"expires_s", token.expires_s}};
}

api::Response of_host(const Expected<HostRow, int>& row) {
  if (!row) return api::error_response(row.error().code, row.error().message);
  return {.body = document_text(host_document(row.value()))};
}

/// An empty body says no.
Expected<bool, int> force_in(const std::string& body) {
  if (body.empty()) return false;
  const Json document = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  const bool fits =
      document.is_object() && document.size() <= 1 &&
      (document.empty() || (document.contains("force") && document["force"].is_boolean()));
  if (!fits) return Failure<int>{kHostMalformed, R"(body: has to be {"force": true}, or empty)"};
  return !document.empty() && document["force"].get<bool>();
}

/// Numbers of machines have 32 bits; a larger one in a path must not be cut to one that exists.
std::uint32_t number_of(std::uint64_t host) {
  constexpr auto kMost = std::numeric_limits<std::uint32_t>::max();
  return host > kMost ? kMost : static_cast<std::uint32_t>(host);
}

}  // namespace

api::Response BookAdmin::hosts() {
  Json list = Json::array();
  for (const HostRow& row : book_->list()) list.push_back(host_document(row));
  return {.body = document_text(Json{{"hosts", std::move(list)}, {"lease_s", to_seconds(lease_)}})};
}

api::Response BookAdmin::declare_lost(std::uint64_t host, const std::string& body) {
  const auto force = force_in(body);
  if (!force) return api::error_response(force.error().code, force.error().message);
  return of_host(book_->declare_lost(number_of(host), force.value()));
}

api::Response BookAdmin::remove(std::uint64_t host, const std::string& body) {
  const auto force = force_in(body);
  if (!force) return api::error_response(force.error().code, force.error().message);
  return of_host(book_->remove(number_of(host), force.value()));
}

api::Response BookAdmin::drain(std::uint64_t host, bool drained) {
  return of_host(book_->change(number_of(host), {drained, {}}));
}

api::Response BookAdmin::label(std::uint64_t host, const std::string& body) {
  auto labels = labels_from(body);
  if (!labels) return api::error_response(labels.error().code, labels.error().message);
  return of_host(book_->change(number_of(host), {std::nullopt, std::move(labels).value()}));
}

api::Response BookAdmin::join_tokens() {
  Json list = Json::array();
  for (const JoinTokenRow& token : book_->tokens()) {
    list.push_back(token_document(token, book_->now_s()));
  }
  return {.body = document_text(Json{{"tokens", std::move(list)}})};
}

api::Response BookAdmin::create_join_token(const std::string& body) {
  const auto request = join_token_request_from_json(body, "body");
  if (!request) {
    const bool is_malformed = request.error().code == ConfigError::malformed;
    return api::error_response(is_malformed ? kHostMalformed : kHostUnfit, request.error().message);
  }
  const std::int64_t now_s = book_->now_s();
  const auto made = book_->create_token(request->hosts, request->lifetime_s, authority_);
  if (!made) return api::error_response(made.error().code, made.error().message);
  Json document = token_document(
      {made->id, {}, request->hosts, 0, now_s, now_s + request->lifetime_s, false}, now_s);
  document["secret"] = to_text(made.value());
  return {.status = kCreated, .body = document_text(document)};
}

api::Response BookAdmin::revoke_join_token(const std::string& id) {
  const auto row = book_->revoke_token(id);
  if (!row) return api::error_response(row.error().code, row.error().message);
  return {.body = document_text(token_document(row.value(), book_->now_s()))};
}

}  // namespace muster::hosts
