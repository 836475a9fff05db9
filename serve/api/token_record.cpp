// The file of the named tokens: a JSON object a line, so that a line can be read, copied and taken
// out by hand. Every field is checked, as what the file says gives rights.

#include "serve/api/token_record.hpp"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "model/hexadecimal.hpp"

namespace muster::api {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxName = 64;
constexpr std::size_t kMaxUser = 256;
/// The year 9999: a later time is a slip of a unit.
constexpr std::int64_t kLastSecond = 253'402'300'799;
constexpr std::size_t kMaxNumber = 64;
constexpr std::array<std::string_view, 9> kFields{
    "name", "role", "user", "created_s", "expires_s", "revoked_s", "sha256", "earlier", "requests"};

/// Reads the fields of one line; the first fault is kept.
class LineReader {
 public:
  explicit LineReader(const std::string& line)
      : document_(Json::parse(line, nullptr, /*allow_exceptions=*/false)) {
    if (!document_.is_object()) fault_ = "has to be a JSON object, one a line";
  }

  TokenRecord record() {
    TokenRecord record;
    if (!fault_.empty()) return record;
    for (const auto& [field, value] : document_.items()) {
      if (std::ranges::find(kFields, field) == kFields.end()) {
        complain(field, "is no field of a token; " + fmt::format("those are {}", all_fields()));
      }
    }
    record.name = text("name");
    need("name", token_name_fault(record.name));
    const auto role = named<Role>(text("role"));
    need("role", role ? "" : "has to be admin, user or read_only");
    record.role = role.value_or(Role::read_only);
    record.user = text("user");
    need("user", token_user_fault(record.user));
    record.created_s = time(document_, "created_s", true).value_or(0);
    record.expires_s = time(document_, "expires_s", false);
    record.revoked_s = time(document_, "revoked_s", false);
    record.digest = digest(document_, "sha256");
    // One alone may stand there without a list.
    for (const Json& each : list("earlier", kMaxEarlierSecrets)) {
      record.earlier.push_back({digest(each, "sha256"), time(each, "until_s", true).value_or(0)});
    }
    for (const Json& each : list("requests", kMaxSecretRequests)) {
      SecretRequest request;
      const Json number = member(each, "number");
      request.mark.number = number.is_string() ? number.get<std::string>() : "";
      if (const auto fault = request_number_fault(request.mark.number); !fault.empty()) {
        complain("requests", "number: " + fault);
      }
      const Json sent = member(each, "sent");
      request.mark.sent = sent.is_number_integer() ? sent.get<std::int64_t>() : 0;
      request.asks = digest(each, "asks");
      request.secret = digest(each, "sha256");
      record.requests.push_back(std::move(request));
    }
    return record;
  }

  /// "role: has to be ..."; empty: nothing is wrong.
  const std::string& fault() const { return fault_; }

 private:
  static std::string all_fields() {
    std::string all;
    for (const std::string_view field : kFields) {
      all += (all.empty() ? "" : ", ") + std::string(field);
    }
    return all;
  }
  void complain(const std::string& field, const std::string& what) {
    if (fault_.empty()) fault_ = field + ": " + what;
  }
  void need(const std::string& field, const std::string& what) {
    if (!what.empty()) complain(field, what + "; it is " + member(document_, field).dump());
  }
  /// Null for an absent field, as a field that is not given means null.
  static Json member(const Json& object, const std::string& field) {
    return object.is_object() && object.contains(field) ? object[field] : Json();
  }
  /// Of objects; one alone counts as a list of it.
  std::vector<Json> list(const std::string& field, std::size_t most) {
    const Json value = member(document_, field);
    if (value.is_null()) return {};
    if (!value.is_array()) return {value};
    if (value.size() > most) complain(field, fmt::format("has at most {} entries", most));
    return {value.begin(), value.end()};
  }
  std::string text(const std::string& field) {
    const Json value = member(document_, field);
    return value.is_string() ? value.get<std::string>() : std::string();
  }
  std::optional<std::int64_t> time(const Json& object, const std::string& field, bool needed) {
    const Json value = member(object, field);
    if (value.is_null() && !needed) return std::nullopt;
    const bool whole = value.is_number_integer();
    const std::int64_t seconds = whole ? value.get<std::int64_t>() : -1;
    if (seconds >= 0 && seconds <= kLastSecond) return seconds;
    complain(field, fmt::format("has to be a whole number of seconds since 1970{}; it is {}",
                                needed ? "" : ", or null", value.dump()));
    return std::nullopt;
  }
  TokenDigest digest(const Json& object, const std::string& field) {
    const Json value = member(object, field);
    const auto found = value.is_string() ? digest_from(value.get<std::string>()) : std::nullopt;
    // A digest is no secret, but a token that was put in its place is: it is not repeated.
    if (!found) complain(field, "has to be 64 hexadecimal digits, in small letters");
    return found.value_or(TokenDigest{});
  }

  Json document_;
  std::string fault_;
};

template <class Value>
Json value_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json record_document(const TokenRecord& record) {
  Json document{{"name", record.name},
                {"role", name_of(record.role)},
                {"user", record.user},
                {"created_s", record.created_s},
                {"expires_s", value_or_null(record.expires_s)},
                {"revoked_s", value_or_null(record.revoked_s)},
                {"sha256", hexadecimal(record.digest)}};
  Json earlier = Json::array();
  for (const EarlierToken& each : record.earlier) {
    earlier.push_back({{"sha256", hexadecimal(each.digest)}, {"until_s", each.until_s}});
  }
  // One alone as an earlier version reads it.
  if (earlier.size() == 1) document["earlier"] = earlier.front();
  if (earlier.size() > 1) document["earlier"] = std::move(earlier);
  for (const SecretRequest& each : record.requests) {
    document["requests"].push_back({{"number", each.mark.number},
                                    {"sent", each.mark.sent},
                                    {"asks", hexadecimal(each.asks)},
                                    {"sha256", hexadecimal(each.secret)}});
  }
  return document;
}

}  // namespace

std::optional<TokenDigest> digest_from(std::string_view text) {
  TokenDigest digest{};
  if (text.size() != 2 * digest.size()) return std::nullopt;
  const auto value_of = [](char letter) {
    return letter >= '0' && letter <= '9'   ? letter - '0'
           : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
                                            : -1;
  };
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const int high = value_of(text[2 * i]);
    const int low = value_of(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest[i] = static_cast<unsigned char>(high * 16 + low);
  }
  return digest;
}

TokenDigest digest_of(std::string_view token) {
  TokenDigest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return digest;
}

std::string request_number_fault(std::string_view number) {
  const auto visible = [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\'; };
  const bool good =
      !number.empty() && number.size() <= kMaxNumber && std::ranges::all_of(number, visible);
  return good ? ""
              : fmt::format("has to be 1 to {} visible ASCII characters except \" and \\",
                            kMaxNumber);
}

std::string token_name_fault(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  };
  // It stands in paths of the API and as a word of the command line.
  const bool good = !name.empty() && name.size() <= kMaxName && name.front() != '-' &&
                    name.front() != '.' && std::ranges::all_of(name, allowed);
  return good ? ""
              : fmt::format(
                    "has to be 1 to {} of A-Z a-z 0-9 . _ - and begin with a letter, digit "
                    "or _",
                    kMaxName);
}

std::string token_user_fault(std::string_view user) {
  const auto visible = [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; };
  const bool good = !user.empty() && user.size() <= kMaxUser && std::ranges::all_of(user, visible);
  return good ? "" : fmt::format("has to be a text of 1 to {} bytes on one line", kMaxUser);
}

std::string to_lines(const std::vector<TokenRecord>& records) {
  std::string text;
  for (const TokenRecord& record : records) text += record_document(record).dump() + '\n';
  return text;
}

Expected<std::vector<TokenRecord>, ServerError> records_from(const std::filesystem::path& file,
                                                             const std::string& text) {
  std::vector<TokenRecord> records;
  std::set<std::string> names;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    LineReader reader(line);
    TokenRecord record = reader.record();
    std::string fault = reader.fault();
    if (fault.empty() && !names.insert(record.name).second) {
      fault =
          fmt::format("name: has to be another one than those before; '{}' is taken", record.name);
    }
    if (!fault.empty()) {
      return Failure<ServerError>{ServerError::bad_token_file,
                                  fmt::format("{}:{}: {}", file.string(), number, fault)};
    }
    records.push_back(std::move(record));
  }
  if (records.size() <= kMaxNamedTokens) return records;
  return Failure<ServerError>{ServerError::bad_token_file,
                              fmt::format("{}: holds {} tokens; it may hold {}, one a line",
                                          file.string(), records.size(), kMaxNamedTokens)};
}

}  // namespace muster::api
