#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "model/fields.hpp"
#include "storage/events/event_json.hpp"
#include "storage/events/json_tree.hpp"

// Reads event logs. The members of a type are those of model/fields.hpp, the same that the writer
// goes through, so that the two cannot differ. Numbers are read from their digits, exactly.

namespace muster {
namespace {

// The array would be filled up with empty words, and logs would call an event by one.
static_assert(!kEventNames.back().empty(), "kEventNames has a word for each event of EventBody");

/// As catalogs and workloads have it.
constexpr double kMaxAmount = 1e9;

/// Whole billionths from a decimal number with at most nine places; nothing when it is not one.
std::optional<std::int64_t> nanos_from(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  std::string all{digits.substr(0, point)};
  const std::string_view places = point < digits.size() ? digits.substr(point + 1) : "";
  // Rounding would give a log that is not the one written, with another digest.
  if (places.size() > 9) return std::nullopt;
  all.append(places).append(9 - places.size(), '0');
  std::uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), magnitude);
  constexpr auto kLimit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (error != std::errc{} || end != all.data() + all.size()) return std::nullopt;
  // The range of two's complement has one more number below zero than above.
  if (magnitude > kLimit + (negative ? 1 : 0)) return std::nullopt;
  // Negated without a sign: the lowest number has no positive counterpart.
  return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
}

/// Sets values from the members of an object. Keeps the first thing that is wrong; after that the
/// values mean nothing.
class JsonReader {
 public:
  JsonReader(const JsonValue::Object& object, const Catalog* catalog)
      : object_(&object), catalog_(catalog) {}

  const std::string& error() const { return error_; }
  void fail(std::string_view expected) {
    if (error_.empty()) error_ = fmt::format("field \"{}\": expected {}", path_, expected);
  }

  template <class T>
  void operator()(Key key, T& value) {
    const Step step(path_, key.name);
    if (const JsonValue* found = find(key.name)) {
      get(*found, value);
    } else if (error_.empty()) {
      error_ = fmt::format("field \"{}\" is missing", path_);
    }
  }
  template <class T>
  void operator()(Key key, std::optional<T>& value) {
    if (find(key.name) != nullptr) (*this)(key, value.emplace());
  }
  template <class T>
  void unless_default(Key key, T& value, const std::type_identity_t<T>& standard) {
    if (find(key.name) == nullptr) {
      value = standard;
    } else {
      (*this)(key, value);
    }
  }
  template <class T, class Variant>
  void alternative(Key key, Variant& value) {
    if (find(key.name) != nullptr) (*this)(key, value.template emplace<T>());
  }
  template <class Id>
  void optional_id(Key key, Id& id) {
    if (find(key.name) != nullptr) (*this)(key, id);
  }
  void figure(Key key, double& value) {
    const Step step(path_, key.name);
    const JsonValue* found = find(key.name);
    if (found == nullptr) return fail("a number");
    get_figure(*found, value);
  }

 private:
  /// One more name on the path while it lives.
  class Step {
   public:
    Step(std::string& path, std::string_view name) : path_(path), length_(path.size()) {
      if (!path_.empty() && !name.starts_with('[')) path_ += '.';
      path_ += name;
    }
    ~Step() { path_.resize(length_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    std::string& path_;
    std::size_t length_;
  };

  const JsonValue* find(std::string_view name) const {
    for (const JsonMember& member : *object_) {
      if (member.name == name) return &member.value;
    }
    return nullptr;
  }

  template <class Alternative>
  const Alternative* as(const JsonValue& value, std::string_view expected) {
    const auto* found = std::get_if<Alternative>(&value.content);
    if (found == nullptr) fail(expected);
    return found;
  }

  template <class Number>
  void get_number(const JsonValue& value, Number& number, std::string_view expected) {
    const auto* found = as<JsonValue::Number>(value, expected);
    if (found == nullptr) return;
    const char* end = found->digits.data() + found->digits.size();
    const auto [stop, error] = std::from_chars(found->digits.data(), end, number);
    // from_chars takes a prefix: "1.5" as a whole number would be 1 without the second
    // condition.
    if (error != std::errc{} || stop != end) fail(expected);
  }

  void get(const JsonValue& value, bool& flag) {
    if (const auto* found = as<bool>(value, "true or false")) flag = *found;
  }
  void get(const JsonValue& v, int& n) { get_number(v, n, "a whole number"); }
  void get(const JsonValue& v, std::uint32_t& n) { get_number(v, n, "a whole number from 0"); }
  void get(const JsonValue& v, std::uint64_t& n) { get_number(v, n, "a whole number from 0"); }
  void get(const JsonValue& v, double& n) { get_number(v, n, "a finite number"); }
  void get_figure(const JsonValue& value, double& number) {
    const auto* name = std::get_if<std::string>(&value.content);
    if (name == nullptr) return get(value, number);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (*name == "inf") {
      number = kInfinity;
    } else if (*name == "-inf") {
      number = -kInfinity;
    } else if (*name == "nan") {
      number = std::numeric_limits<double>::quiet_NaN();
    } else {
      fail("a number, \"inf\", \"-inf\" or \"nan\"");
    }
  }
  void get(const JsonValue& value, std::string& text) {
    if (const auto* found = as<std::string>(value, "a string")) text = *found;
  }
  void get_nanos(const JsonValue& value, std::int64_t& nanos) {
    constexpr std::string_view kExpected = "a decimal number with at most nine places";
    const auto* found = as<JsonValue::Number>(value, kExpected);
    if (found == nullptr) return;
    const auto read = nanos_from(found->digits);
    if (read) {
      nanos = *read;
    } else {
      fail(kExpected);
    }
  }
  void get(const JsonValue& value, Duration& duration) {
    std::int64_t nanos = 0;
    get_nanos(value, nanos);
    duration = Duration{nanos};
  }
  void get(const JsonValue& value, Instant& instant) {
    Duration since{};
    get(value, since);
    instant = Instant{since};
  }
  void get(const JsonValue& value, Price& price) {
    std::int64_t nanos = 0;
    get_nanos(value, nanos);
    price = Price::from_nano_usd_h(nanos);
  }

  template <class Tag>
  void get(const JsonValue& value, Id<Tag, std::uint64_t>& id) {
    get(value, id.value);
  }
  void get(const JsonValue& value, TypeId& id) {
    const auto* name = as<std::string>(value, "the name of an instance type");
    if (name == nullptr) return;
    const auto found = catalog_->find(*name);
    if (found) {
      id = *found;
    } else {
      fail(fmt::format("an instance type of the header, which \"{}\" is not", *name));
    }
  }

  template <class Enum>
  requires std::is_enum_v<Enum>
  void get(const JsonValue& value, Enum& chosen) {
    const auto* name = as<std::string>(value, "a name");
    if (name == nullptr) return;
    if (const auto found = named<Enum>(*name)) {
      chosen = *found;
    } else {
      fail(fmt::format("one of \"{}\"", fmt::join(kWords<Enum>, "\", \"")));
    }
  }
  void get(const JsonValue& value, Resources& amounts) {
    const auto* object = as<JsonValue::Object>(value, "amounts by resource");
    if (object == nullptr) return;
    amounts = {};
    for (const JsonMember& member : *object) {
      const Step step(path_, member.name);
      Resource kind = Resource::gpu;
      get(JsonValue{member.name}, kind);
      get(member.value, amounts[kind]);
      // Readers of a log add amounts up and divide by them.
      if (!(amounts[kind] >= 0 && amounts[kind] <= kMaxAmount)) {
        fail(fmt::format("an amount from 0 to {}", static_cast<std::uint64_t>(kMaxAmount)));
      }
    }
  }
  void get(const JsonValue& value, Demands& demands) {
    std::vector<FamilyDemand> entries;
    get(value, entries);
    demands = Demands{std::move(entries)};
  }
  void get(const JsonValue& value, ElasticEpochs& epochs) {
    std::vector<ElasticEpoch> all;
    get(value, all);
    epochs = ElasticEpochs{std::move(all)};
  }
  void get(const JsonValue& value, std::vector<std::pair<std::string, double>>& figures) {
    const auto* object = as<JsonValue::Object>(value, "figures by name");
    if (object == nullptr) return;
    for (const JsonMember& member : *object) {
      const Step step(path_, member.name);
      figures.emplace_back(member.name, 0);
      get_figure(member.value, figures.back().second);
    }
  }

  void get(const JsonValue& value, std::vector<std::pair<std::string, std::string>>& texts) {
    const auto* object = as<JsonValue::Object>(value, "texts by name");
    if (object == nullptr) return;
    for (const JsonMember& member : *object) {
      const Step step(path_, member.name);
      texts.emplace_back(member.name, std::string{});
      get(member.value, texts.back().second);
    }
  }

  void get(const JsonValue& value, std::vector<ThroughputSample>& samples) {
    const auto* object = as<JsonValue::Object>(value, "throughputs by task");
    if (object == nullptr) return;
    for (const JsonMember& member : *object) {
      const Step step(path_, member.name);
      ThroughputSample& sample = samples.emplace_back();
      get(JsonValue{JsonValue::Number{member.name}}, sample.task);
      get(member.value, sample.normalized);
    }
  }

  template <class T>
  void get(const JsonValue& value, std::vector<T>& list) {
    const auto* array = as<JsonValue::Array>(value, "a list");
    if (array == nullptr) return;
    for (std::size_t i = 0; i < array->size(); ++i) {
      const Step step(path_, fmt::format("[{}]", i));
      get((*array)[i], list.emplace_back());
    }
  }
  template <class T>
  requires std::is_class_v<T>
  void get(const JsonValue& value, T& record) {
    const auto* inner = as<JsonValue::Object>(value, "an object");
    if (inner == nullptr) return;
    // One reader for all levels, so that the path and the first error are shared.
    const JsonValue::Object* outer = std::exchange(object_, inner);
    fields(*this, record);
    object_ = outer;
  }

  const JsonValue::Object* object_;
  const Catalog* catalog_;
  std::string path_;
  std::string error_;
};

Failure<EventLogError> malformed(std::string message) {
  return {EventLogError::malformed, std::move(message)};
}

Expected<JsonValue::Object, EventLogError> parse_object(std::string_view line) {
  auto tree = parse_json(line);
  if (!tree) return malformed(tree.error().message);
  auto* object = std::get_if<JsonValue::Object>(&tree->content);
  if (object == nullptr) return malformed("expected one JSON object");
  return std::move(*object);
}

/// The reason why a log has an event that this program does not know. A log of an earlier version
/// is refused as a whole: read in part it would say something else than the run that wrote it.
std::string why_unknown(std::string_view event) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kRenamed = {
      {{"task_left", "task_checkpointed"}, {"job_given_up", "job_terminating"}}};
  for (const auto& [before, now] : kRenamed) {
    if (event == before) {
      return fmt::format("event \"{}\" is called {} now: the log is of an earlier version", before,
                         now);
    }
  }
  return fmt::format("there is no event \"{}\"", event);
}

}  // namespace

Expected<LogHeader, EventLogError> header_from_json(std::string_view line) {
  const auto object = parse_object(line);
  if (!object) return object.error();
  JsonReader reader(object.value(), nullptr);
  std::uint32_t version = 0;
  LogHeader header;
  std::vector<InstanceType> types;
  reader("muster_events", version);
  // Before the other fields, which another version may not have.
  if (version != 1 && reader.error().empty()) {
    return malformed(fmt::format("event log version {}: this program reads version 1", version));
  }
  reader("policy", header.policy);
  reader("seed", header.seed);
  reader("types", types);
  if (!reader.error().empty()) return malformed(reader.error());
  header.catalog = Catalog{std::move(types)};
  return header;
}

Expected<Event, EventLogError> event_from_json(std::string_view line, const Catalog& catalog) {
  const auto object = parse_object(line);
  if (!object) return object.error();
  JsonReader reader(object.value(), &catalog);
  Event event;
  std::string name;
  reader("t", event.at);
  reader("event", name);
  reader.unless_default("cell", event.cell, 0u);
  if (!reader.error().empty()) return malformed(reader.error());
  const auto* found = std::find(kEventNames.begin(), kEventNames.end(), name);
  if (found == kEventNames.end()) return malformed(why_unknown(name));
  event.body = empty_body(static_cast<std::size_t>(found - kEventNames.begin()));
  std::visit([&](auto& body) { fields(reader, body); }, event.body);
  if (!reader.error().empty()) return malformed(reader.error());
  return event;
}

}  // namespace muster
