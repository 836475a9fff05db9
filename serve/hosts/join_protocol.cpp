#include "serve/hosts/join_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "actors/link/join_pki.hpp"

namespace muster::hosts {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kBadRequest = 400, kWrongVersion = 426;
constexpr std::string_view kTokenBegin = "muster-join-";
constexpr std::size_t kIdDigits = 8, kSecretDigits = 32, kPrintDigits = 64;
/// Of a worker's settings or certificate in an answer.
constexpr std::size_t kMaxLongText = std::size_t{64} << 10;
constexpr std::uint64_t kMaxAmount = 1'000'000;
/// Levels of a request or an answer; three are in use.
constexpr int kMaxDepth = 8;

Failure<int> bad(const std::string& what) {
  return {kBadRequest, what};
}

bool is_hexadecimal(std::string_view text, std::size_t digits) {
  return text.size() == digits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// In one line and without what a terminal would obey.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
}

std::string written(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Copies of a value take stack for each level; deeper values are left out.
bool is_shallow(int depth, Json::parse_event_t, const Json&) {
  return depth <= kMaxDepth;
}

/// Members of an object; the first fault stands.
class Reader {
 public:
  explicit Reader(std::string_view text)
      : document_(Json::parse(text, is_shallow, /*allow_exceptions=*/false)) {
    if (!document_.is_object()) fail("the body has to be a JSON object");
  }
  Reader(Json value, const char* name) : document_(std::move(value)) {
    if (!document_.is_object()) fail(std::string(name) + " has to be an object");
  }

  const Json* member(const char* name) {
    if (fault_) return nullptr;
    const auto found = document_.find(name);
    if (found != document_.end()) return &*found;
    fail(std::string(name) + " is missing");
    return nullptr;
  }
  std::string text(const char* name, std::size_t most, bool plain = true) {
    const Json* value = member(name);
    if (value == nullptr) return {};
    const auto* said = value->get_ptr<const std::string*>();
    if (said != nullptr && said->size() <= most && (!plain || is_plain(*said))) return *said;
    fail(fmt::format("{} has to be a text of at most {} bytes{}", name, most,
                     plain ? " in one line of ASCII" : ""));
    return {};
  }
  std::uint64_t number(const char* name, std::uint64_t most) {
    const Json* value = member(name);
    if (value == nullptr) return 0;
    if (value->is_number_unsigned() && value->get<std::uint64_t>() <= most) {
      return value->get<std::uint64_t>();
    }
    fail(fmt::format("{} has to be a whole number from 0 to {}", name, most));
    return 0;
  }
  /// Nothing: the member is not there, as of an earlier release.
  std::optional<bool> truth_or_nothing(const char* name) {
    if (fault_ || !document_.contains(name)) return std::nullopt;
    const Json& value = document_[name];
    if (value.is_boolean()) return value.get<bool>();
    fail(fmt::format("{} has to be true or false", name));
    return std::nullopt;
  }
  std::vector<Json> list(const char* name, std::size_t most) {
    const Json* value = member(name);
    if (value == nullptr) return {};
    if (value->is_array() && value->size() <= most) return {value->begin(), value->end()};
    fail(fmt::format("{} has to be a list of at most {}", name, most));
    return {};
  }
  void fail(const std::string& why) {
    if (!fault_) fault_ = bad(why);
  }
  void need_version() {
    const std::uint64_t other = number("version", std::numeric_limits<std::uint32_t>::max());
    if (fault_ || other == kProtocol) return;
    fault_ = Failure<int>{kWrongVersion,
                          fmt::format("the machine speaks version {} of this protocol and the "
                                      "cluster version {}: install one release on both",
                                      other, kProtocol)};
  }
  const std::optional<Failure<int>>& fault() const { return fault_; }

 private:
  Json document_;
  std::optional<Failure<int>> fault_;
};

Json measured_json(const Measured& has) {
  return {{"cpus", has.cpus},
          {"memory_gib", has.memory_gib},
          {"gpus", has.gpus},
          {"storage_gib", has.storage_gib}};
}

Measured read_measured(Reader& reader) {
  const Json* value = reader.member("measured");
  if (value == nullptr) return {};
  Reader inner(*value, "measured");
  const auto amount = [&](const char* name) {
    return static_cast<std::uint32_t>(inner.number(name, kMaxAmount));
  };
  const Measured has{amount("cpus"), amount("memory_gib"), amount("gpus"), amount("storage_gib")};
  if (inner.fault()) reader.fail("measured: " + inner.fault()->message);
  return has;
}

/// The first fault is the reader's.
Labels labels_in(Reader& reader, const Json& value) {
  Labels labels;
  if (!value.is_object() || value.size() > kMaxLabels) {
    reader.fail(fmt::format("labels has to be an object of at most {}", kMaxLabels));
    return labels;
  }
  for (const auto& [key, text] : value.items()) {
    const auto* said = text.get_ptr<const std::string*>();
    if (said == nullptr || said->size() > kMaxText || key.empty() || key.size() > kMaxText ||
        !is_plain(key) || !is_plain(*said)) {
      reader.fail(
          fmt::format("labels: a key and its text have at most {} bytes in one line of "
                      "ASCII",
                      kMaxText));
      return labels;
    }
    labels[key] = *said;
  }
  return labels;
}

Labels read_labels(Reader& reader) {
  const Json* value = reader.member("labels");
  return value == nullptr ? Labels{} : labels_in(reader, *value);
}

constexpr std::uint64_t kMaxNumber = std::numeric_limits<std::int64_t>::max();

template <class T>
Expected<T, int> result(const Reader& reader, T value) {
  if (reader.fault()) return *reader.fault();
  return value;
}

}  // namespace

std::string to_text(const JoinToken& token) {
  return fmt::format("{}{}-{}-{}", kTokenBegin, token.id, token.secret, token.authority);
}

Expected<JoinToken, int> token_from(std::string_view text) {
  constexpr std::size_t kSize =
      kTokenBegin.size() + kIdDigits + 1 + kSecretDigits + 1 + kPrintDigits;
  constexpr std::size_t kSecretAt = kTokenBegin.size() + kIdDigits + 1;
  constexpr std::size_t kPrintAt = kSecretAt + kSecretDigits + 1;
  if (text.size() == kSize && text.starts_with(kTokenBegin) && text[kSecretAt - 1] == '-' &&
      text[kPrintAt - 1] == '-') {
    const JoinToken token{std::string(text.substr(kTokenBegin.size(), kIdDigits)),
                          std::string(text.substr(kSecretAt, kSecretDigits)),
                          std::string(text.substr(kPrintAt))};
    if (is_hexadecimal(token.id, kIdDigits) && is_hexadecimal(token.secret, kSecretDigits) &&
        is_hexadecimal(token.authority, kPrintDigits)) {
      return token;
    }
  }
  return bad(
      fmt::format("the token has to be one that `muster join-token create` has printed, "
                  "muster-join- and {} more characters; it has {} characters in all",
                  kSize - kTokenBegin.size(), text.size()));
}

std::string to_json(const JoinRequest& request) {
  Json labels = Json::object();
  for (const auto& [key, text] : request.labels) labels[key] = text;
  return written({{"version", kProtocol},
                  {"token_id", request.token_id},
                  {"secret", request.secret},
                  {"request", request.request},
                  {"name", request.name},
                  {"measured", measured_json(request.measured)},
                  {"labels", labels},
                  {"now_s", request.now_s}});
}

Expected<JoinRequest, int> join_request_from(std::string_view text) {
  Reader reader(text);
  reader.need_version();
  JoinRequest request;
  request.token_id = reader.text("token_id", kIdDigits);
  request.secret = reader.text("secret", kSecretDigits);
  request.request = reader.text("request", kMaxCertificateRequest, false);
  request.name = reader.text("name", kMaxText);
  request.measured = read_measured(reader);
  request.labels = read_labels(reader);
  request.now_s = static_cast<std::int64_t>(reader.number("now_s", kMaxNumber));
  return result(reader, std::move(request));
}

std::string to_json(const JoinAnswer& answer) {
  return written({{"host", answer.host},
                  {"type", answer.type},
                  {"certificate", answer.certificate},
                  {"authority", answer.authority}});
}

Expected<JoinAnswer, int> join_answer_from(std::string_view text) {
  Reader reader(text);
  JoinAnswer answer;
  answer.host =
      static_cast<std::uint32_t>(reader.number("host", std::numeric_limits<std::uint32_t>::max()));
  answer.type = reader.text("type", kMaxLongText);
  answer.certificate = reader.text("certificate", kMaxLongText, false);
  answer.authority = reader.text("authority", kMaxLongText, false);
  return result(reader, std::move(answer));
}

std::string to_json(const Report& report) {
  Json instances = Json::array();
  for (const InstanceId id : report.instances) instances.push_back(id.value);
  Json document = {{"version", kProtocol},   {"run", report.run},
                   {"boot", report.boot},    {"measured", measured_json(report.measured)},
                   {"instances", instances}, {"trouble", report.trouble}};
  if (report.own_checkpoints) document["own_checkpoints"] = *report.own_checkpoints;
  return written(document);
}

Expected<Report, int> report_from(std::string_view text) {
  constexpr std::size_t kMaxTrouble = 1024;
  Reader reader(text);
  reader.need_version();
  Report report;
  report.run = reader.text("run", kMaxText);
  report.boot = reader.text("boot", kMaxText);
  report.measured = read_measured(reader);
  for (const Json& each : reader.list("instances", kMaxInstances)) {
    if (!each.is_number_unsigned() || each.get<std::uint64_t>() > kMaxNumber) {
      reader.fail("instances has to be a list of numbers");
      break;
    }
    report.instances.push_back(InstanceId{each.get<std::uint64_t>()});
  }
  report.trouble = reader.text("trouble", kMaxTrouble);
  report.own_checkpoints = reader.truth_or_nothing("own_checkpoints");
  return result(reader, std::move(report));
}

std::string to_json(const ReportAnswer& answer) {
  Json instances = Json::array();
  for (const WantedInstance& each : answer.instances) {
    instances.push_back({{"instance", each.instance.value}, {"settings", each.settings}});
  }
  return written({{"lease_ns", answer.lease.count()},
                  {"report_ns", answer.report.count()},
                  {"instances", instances}});
}

Expected<ReportAnswer, int> report_answer_from(std::string_view text) {
  Reader reader(text);
  ReportAnswer answer;
  answer.lease = Duration{static_cast<std::int64_t>(reader.number("lease_ns", kMaxNumber))};
  answer.report = Duration{static_cast<std::int64_t>(reader.number("report_ns", kMaxNumber))};
  for (const Json& each : reader.list("instances", kMaxInstances)) {
    Reader inner(each, "an instance");
    WantedInstance wanted;
    wanted.instance = InstanceId{inner.number("instance", kMaxNumber)};
    wanted.settings = inner.text("settings", kMaxLongText, false);
    if (inner.fault()) reader.fail(inner.fault()->message);
    answer.instances.push_back(std::move(wanted));
  }
  return result(reader, std::move(answer));
}

std::string to_json(const CertifyRequest& request) {
  return written(
      {{"version", kProtocol}, {"instance", request.instance.value}, {"request", request.request}});
}

Expected<CertifyRequest, int> certify_request_from(std::string_view text) {
  Reader reader(text);
  reader.need_version();
  CertifyRequest request;
  request.instance = InstanceId{reader.number("instance", kMaxNumber)};
  request.request = reader.text("request", kMaxCertificateRequest, false);
  return result(reader, std::move(request));
}

std::string certificate_json(const std::string& pem) {
  return written({{"certificate", pem}});
}

Expected<std::string, int> certificate_from(std::string_view text) {
  Reader reader(text);
  std::string pem = reader.text("certificate", kMaxLongText, false);
  return result(reader, std::move(pem));
}

Expected<Labels, int> labels_from(std::string_view text) {
  Reader reader(text);
  const Json document = Json::parse(text, is_shallow, /*allow_exceptions=*/false);
  Labels labels = labels_in(reader, document);
  return result(reader, std::move(labels));
}

std::string error_message_in(std::string_view text) {
  const Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return {};
  const auto error = document.find("error");
  if (error == document.end()) return {};
  const auto* said = error->is_object() && error->contains("message")
                         ? (*error)["message"].get_ptr<const std::string*>()
                         : nullptr;
  return said == nullptr ? std::string{} : *said;
}

}  // namespace muster::hosts
