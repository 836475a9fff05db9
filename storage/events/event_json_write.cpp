#include <fmt/compile.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <vector>

#include "model/check.hpp"
#include "model/fields.hpp"
#include "storage/events/event_json.hpp"

// Writes event logs, one line of JSON an event. The text is made by hand and not by a JSON library,
// which would take most of a replay's time; its bytes are what digests of runs are made of, so that
// any change of the form changes every digest.

namespace muster {
namespace {

/// Characters of a double in its shortest form, at the most, and some to spare.
constexpr std::size_t kLongestDouble = 32;

template <class T>
concept Named = std::is_enum_v<T>;

/// Writes the members of one object after another into a text.
class JsonWriter {
 public:
  JsonWriter(std::string& text, const Catalog* catalog) : text_(text), catalog_(catalog) {}

  template <class T>
  void operator()(Key key, const T& value) {
    begin(key.name);
    put(value);
  }
  template <class T>
  void operator()(Key key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  template <class T>
  void unless_default(Key key, const T& value, const std::type_identity_t<T>& standard) {
    if (!(value == standard)) (*this)(key, value);
  }
  /// One of what the value may be, when it is that.
  template <class T, class Variant>
  void alternative(Key key, const Variant& value) {
    if (const T* chosen = std::get_if<T>(&value)) (*this)(key, *chosen);
  }
  template <class Id>
  void optional_id(Key key, const Id& id) {
    if (id.valid()) (*this)(key, id);
  }
  /// A number that a policy computed: it may be infinite or not a number.
  void figure(Key key, double value) {
    begin(key.name);
    put_figure(value);
  }

  void put_seconds(Duration value) { put_nanos(value.count()); }

 private:
  void begin(std::string_view name) {
    // The text itself says whether a member has gone before.
    if (text_.back() != '{') text_ += ',';
    put_plain(name);
    text_ += ':';
  }
  void put_plain(std::string_view value) {
    text_ += '"';
    text_ += value;
    text_ += '"';
  }

  void put(bool value) { text_ += value ? "true" : "false"; }
  void put(int value) { put_digits(fmt::format_int(value)); }
  void put(std::uint32_t value) { put_digits(fmt::format_int(value)); }
  void put(std::uint64_t value) { put_digits(fmt::format_int(value)); }
  void put_digits(const fmt::format_int& digits) { text_.append(digits.data(), digits.size()); }
  void put(double value) {
    MUSTER_CHECK(std::isfinite(value), "amounts and speeds are finite");
    if (value == 0 && std::signbit(value)) {
      text_ += "-0.0";  // without the fraction, readers would take it for the integer 0
    } else {
      // Numbers are most of a log: the format is read when the program is compiled.
      std::array<char, kLongestDouble> digits;
      const char* end = fmt::format_to(digits.data(), FMT_COMPILE("{}"), value);
      text_.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
    }
  }
  void put_figure(double value) {
    if (std::isfinite(value)) return put(value);
    put_plain(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  }
  void put(const std::string& value) {
    for (const char c : value) {
      // Names are plain ASCII nearly always: the library is asked for the rest only.
      if (c < ' ' || c > '~' || c == '"' || c == '\\') return put_escaped(value);
    }
    put_plain(value);
  }
  void put_escaped(const std::string& value) {
    text_ += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  /// Whole billionths as a decimal number without superfluous zeros.
  void put_nanos(std::int64_t nanos) {
    constexpr std::uint64_t kOne = 1'000'000'000;
    const auto bits = static_cast<std::uint64_t>(nanos);
    // Without a sign, since the lowest number has no positive counterpart.
    const std::uint64_t magnitude = nanos < 0 ? 0 - bits : bits;
    if (nanos < 0) text_ += '-';
    put(static_cast<std::uint64_t>(magnitude / kOne));
    if (magnitude % kOne == 0) return;
    // Digits of the fraction with a one before them, whose place the point takes.
    const fmt::format_int digits(kOne + magnitude % kOne);
    std::size_t length = digits.size();
    while (digits.data()[length - 1] == '0') --length;
    text_ += '.';
    text_.append(digits.data() + 1, length - 1);
  }
  void put(Duration value) { put_nanos(value.count()); }
  void put(Instant value) { put_nanos(value.time_since_epoch().count()); }
  void put(Price value) { put_nanos(value.nano_usd_h()); }

  template <class Tag>
  void put(Id<Tag, std::uint64_t> id) {
    put(id.value);
  }
  void put(TypeId id) {
    MUSTER_CHECK(id.value < catalog_->size(), "an event's instance type is in the catalog");
    put((*catalog_)[id].name);
  }
  template <Named Enum>
  void put(Enum value) {
    put_plain(name_of(value));
  }

  void put(const Resources& amounts) {
    text_ += '{';
    for (Resource kind : kAllResources) {
      if (amounts[kind] != 0) (*this)(name_of(kind), amounts[kind]);
    }
    text_ += '}';
  }
  void put(const Demands& demands) { put(demands.entries()); }
  void put(const ElasticEpochs& epochs) {
    const auto all = epochs.all();
    put(std::vector<ElasticEpoch>(all.begin(), all.end()));
  }
  void put(const std::vector<std::pair<std::string, double>>& figures) {
    text_ += '{';
    bool first = true;
    for (const auto& [name, value] : figures) {
      if (!first) text_ += ',';
      first = false;
      put(name);
      text_ += ':';
      put_figure(value);
    }
    text_ += '}';
  }

  void put(const std::vector<std::pair<std::string, std::string>>& texts) {
    text_ += '{';
    bool first = true;
    for (const auto& [name, value] : texts) {
      if (!first) text_ += ',';
      first = false;
      put(name);
      text_ += ':';
      put(value);
    }
    text_ += '}';
  }

  void put(const std::vector<ThroughputSample>& samples) {
    text_ += '{';
    for (const ThroughputSample& sample : samples) {
      fmt::format_to(std::back_inserter(text_), "{}\"{}\":", text_.back() == '{' ? "" : ",",
                     sample.task.value);
      put(sample.normalized);
    }
    text_ += '}';
  }

  template <class T>
  void put(const std::vector<T>& values) {
    text_ += '[';
    for (const T& value : values) {
      if (text_.back() != '[') text_ += ',';
      put(value);
    }
    text_ += ']';
  }
  template <class T>
  requires std::is_class_v<T>
  void put(const T& value) {
    text_ += '{';
    fields(*this, value);
    text_ += '}';
  }

  std::string& text_;
  const Catalog* catalog_;
};

}  // namespace

void append_json(const LogHeader& header, std::string& text) {
  JsonWriter writer(text, &header.catalog);
  text += '{';
  writer("muster_events", std::uint32_t{1});
  writer("policy", header.policy);
  writer("seed", header.seed);
  writer("types", header.catalog.types());
  text += "}\n";
}

void append_json(const Event& event, const Catalog& catalog, std::string& text) {
  JsonWriter writer(text, &catalog);
  text += "{\"t\":";
  writer.put_seconds(event.at.time_since_epoch());
  text += ",\"event\":\"";
  text += kEventNames[event.body.index()];
  text += '"';
  writer.unless_default("cell", event.cell, 0u);
  std::visit([&](const auto& body) { fields(writer, body); }, event.body);
  text += "}\n";
}

}  // namespace muster
