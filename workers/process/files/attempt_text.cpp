// Orders and results as JSON in the attempt's folder, where they outlive the worker and the shim
// that wrote them. Their members are those of `fields`, with durations in ns; those of what a
// member is made of stand among them. In a list, what is made of members is the list of their
// values.

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "model/max_span.hpp"
#include "workers/process/files/attempt_fields.hpp"

namespace muster::process {
namespace {

using Json = nlohmann::json;

using Names = std::span<const std::string_view>;

/// The members that the first version wrote, as every one since: a text without one of them is not
/// whole. One that lacks another member is of an earlier version.
constexpr std::array<std::string_view, 24> kFirstOfOrder = {"job",
                                                            "task",
                                                            "attempt",
                                                            "array_index",
                                                            "task_count",
                                                            "argv",
                                                            "env",
                                                            "work_dir",
                                                            "granted",
                                                            "workload_class",
                                                            "time_limit_ns",
                                                            "baseline_rate_per_s",
                                                            "stop_grace_ns",
                                                            "checkpoint_dir",
                                                            "gpus",
                                                            "memory_interval_ns",
                                                            "means",
                                                            "group",
                                                            "max_processes",
                                                            "nice",
                                                            "user_group",
                                                            "log_file_bytes",
                                                            "log_files_kept",
                                                            "control"};
constexpr std::array<std::string_view, 12> kFirstOfResult = {
    "kind",        "exit_code", "stopped",  "reason",    "started_ns",        "ended_ns",
    "stopping_ns", "user_s",    "system_s", "out_bytes", "peak_memory_bytes", "err_bytes"};
/// Likewise, the number of values that stood for one in a list.
constexpr std::size_t first_values(const FamilyDemand&) {
  return 3;
}
constexpr std::size_t first_values(const HiddenPlace&) {
  return 3;
}
constexpr std::size_t first_values(const ServiceSpec&) {
  return 19;
}
constexpr std::size_t kFirstResources = 6;

/// Members of two parts of a service have equal names: it is a list of its own in a record.
template <class T>
inline constexpr bool kInlined = Described<T> && !std::is_same_v<T, ServiceSpec>;

/// Puts members into a record, or by position into a list. All of them: earlier versions ask for
/// those that they know.
class TextWriter {
 public:
  explicit TextWriter(Json& out) : out_(out) {}

  template <class T>
  void operator()(Key key, const T& value) {
    if constexpr (kInlined<T>) {
      fields(*this, value);
    } else if (out_.is_array()) {
      out_.push_back(json_of(value));
    } else {
      out_[text_name<T>(key)] = json_of(value);
    }
  }
  template <class T>
  void operator()(Key key, const std::optional<T>& value) {
    if (value) return (*this)(key, *value);
    if (out_.is_array()) out_.push_back(nullptr);
  }
  template <class T>
  void unless_default(Key key, const T& value, const std::type_identity_t<T>&) {
    (*this)(key, value);
  }

 private:
  template <class T>
  static Json json_of(const T& value) {
    if constexpr (Described<T>) {
      Json list = Json::array();
      TextWriter members(list);
      fields(members, value);
      return list;
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<int>(value);
    } else {
      return value;
    }
  }
  static Json json_of(Duration value) { return value.count(); }
  template <class Tag, class Number>
  static Json json_of(Id<Tag, Number> id) {
    return id.value;
  }
  /// By position: the order of kAllResources is part of the format.
  static Json json_of(const Resources& value) { return value.amounts(); }
  static Json json_of(const Demands& value) { return json_of(value.entries()); }
  template <class T>
  static Json json_of(const std::vector<T>& values) {
    Json list = Json::array();
    for (const T& value : values) list.push_back(json_of(value));
    return list;
  }

  Json& out_;
};

/// Sets members from a record or a list. Members that are not known are passed over, and those that
/// lack keep their value. Null is no value: only in a list does it stand for nothing.
class TextReader {
 public:
  /// Of a record: with the members that may not lack.
  TextReader(const Json& from, Names first)
      : from_(from), first_(first), good_(from.is_structured()) {}

  bool good() const { return good_; }

  template <class T>
  void operator()(Key key, T& value) {
    if constexpr (kInlined<T>) {
      fields(*this, value);
    } else if (const Json* found = find(text_name<T>(key))) {
      ++found_;
      get(*found, value);
    } else {
      ++lacking_;
      expect(std::find(first_.begin(), first_.end(), text_name<T>(key)) == first_.end());
    }
  }
  template <class T>
  void operator()(Key key, std::optional<T>& value) {
    if (from_.is_array() && at_ < from_.size() && from_[at_].is_null()) {
      ++at_;
      return;
    }
    const std::size_t found = found_;
    const std::size_t lacking = lacking_;
    T read{};
    (*this)(key, read);
    if (found_ == found) return;
    // All members of a name or nothing: half of a name is invalid.
    expect(lacking_ == lacking);
    value = std::move(read);
  }
  template <class T>
  void unless_default(Key key, T& value, const std::type_identity_t<T>&) {
    (*this)(key, value);
  }

 private:
  const Json* find(const std::string& name) {
    if (from_.is_array()) return at_ < from_.size() ? &from_[at_++] : nullptr;
    const auto member = from_.find(name);
    return member == from_.end() ? nullptr : &*member;
  }
  bool expect(bool fulfilled) { return good_ = good_ && fulfilled; }

  template <class T>
  void get(const Json& from, T& value) {
    if constexpr (Described<T>) {
      if (!expect(from.is_array() && from.size() >= first_values(value))) return;
      TextReader members(from, {});
      fields(members, value);
      expect(members.good());
    } else if constexpr (std::is_enum_v<T>) {
      int number = 0;
      get(from, number);
      if (expect(number >= 0 && number < static_cast<int>(kEnumerators<T>))) {
        value = static_cast<T>(number);
      }
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      // The library would cut what is too large.
      const bool fits = from.is_number_unsigned() ? std::in_range<T>(from.get<std::uint64_t>())
                                                  : from.is_number_integer() &&
                                                        std::in_range<T>(from.get<std::int64_t>());
      if (expect(fits)) value = from.get<T>();
    } else {
      const bool fits = std::is_same_v<T, bool>     ? from.is_boolean()
                        : std::is_same_v<T, double> ? from.is_number()
                                                    : from.is_string();
      if (expect(fits)) value = from.get<T>();
    }
  }
  void get(const Json& from, Duration& value) {
    std::int64_t ns = 0;
    get(from, ns);
    // The bounds of frames: sums of a few of them and of the time stay in range.
    if (expect(ns >= 0 && ns <= kMaxSpan.count())) value = Duration{ns};
  }
  void get(const Json& from, HiddenPlace& place) {
    // Those of the first versions are paths alone.
    if (from.is_string()) return get(from, place.path);
    get<HiddenPlace>(from, place);
  }
  template <class Tag, class Number>
  void get(const Json& from, Id<Tag, Number>& id) {
    get(from, id.value);
  }
  void get(const Json& from, Resources& value) {
    expect(from.is_array() && from.size() >= kFirstResources);
    for (std::size_t i = 0; good_ && i < std::min(from.size(), kResourceKinds); ++i) {
      get(from[i], value[kAllResources[i]]);
    }
  }
  void get(const Json& from, Demands& value) {
    std::vector<FamilyDemand> entries;
    get(from, entries);
    value = Demands(std::move(entries));
  }
  template <class First, class Second>
  void get(const Json& from, std::pair<First, Second>& value) {
    if (!expect(from.is_array() && from.size() == 2)) return;
    get(from[0], value.first);
    get(from[1], value.second);
  }
  template <class T>
  void get(const Json& from, std::vector<T>& values) {
    values.clear();
    expect(from.is_array());
    for (std::size_t i = 0; good_ && i < from.size(); ++i) get(from[i], values.emplace_back());
  }

  const Json& from_;
  Names first_;
  bool good_;
  std::size_t at_ = 0;       ///< in a list
  std::size_t found_ = 0;    ///< members that were there
  std::size_t lacking_ = 0;  ///< those that were not
};

template <class Record>
Json record_of(const Record& record) {
  Json json = Json::object();
  TextWriter writer(json);
  fields(writer, record);
  return json;
}

/// Nothing for what is cut, too: a shim may have been killed while the disk was full.
template <class Record>
std::optional<Record> read_record(std::string_view text, Names first) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  TextReader reader(json, first);
  Record record;
  fields(reader, record);
  return reader.good() ? std::optional(std::move(record)) : std::nullopt;
}

}  // namespace

/// A shim that was killed or never began says nothing about the program: such an attempt is lost.
FailureKind failure_of(EndKind kind) {
  switch (kind) {
    case EndKind::exited:
      return FailureKind::exit_code;
    case EndKind::signalled:
    case EndKind::too_many_processes:
      return FailureKind::signal;
    case EndKind::out_of_memory:
      return FailureKind::out_of_memory;
    case EndKind::timed_out:
      return FailureKind::time_limit;
    case EndKind::not_started:
      return FailureKind::cannot_start;
    case EndKind::supervisor_killed:
    case EndKind::not_launched:
    case EndKind::lease_ended:
    case EndKind::outputs_lost:
    case EndKind::left_early:
      return FailureKind::lost;
    case EndKind::disk_full:
      return FailureKind::disk_full;
    case EndKind::folder_gone:
      return FailureKind::exit_code;
    case EndKind::outputs_missing:
    case EndKind::files_late:
      return FailureKind::files;
  }
  return FailureKind::unknown;
}

AttemptResult not_begun(EndKind kind, const std::string& reason) {
  AttemptResult result;
  result.kind = kind;
  // As a shell says of a command that it cannot execute.
  result.exit_code = 126;
  result.reason = "cannot start: " + reason;
  return result;
}

std::string time_limit_text(Duration limit) {
  char text[64];
  std::snprintf(text, sizeof text, "time limit of %g s reached", to_seconds(limit));
  return text;
}

std::string to_text(const Order& order) {
  // Strict: an argument that was changed to be valid UTF-8 would be another argument. Empty: the
  // caller refuses to start an attempt whose order cannot be written as it is.
  try {
    return record_of(order).dump(-1, ' ', false, Json::error_handler_t::strict);
  } catch (const Json::exception&) {
    return {};
  }
}

std::string to_text(const AttemptResult& result) {
  // A reason may hold any bytes, such as a path; a changed one is better than an empty one.
  return record_of(result).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Order> order_from(std::string_view text) {
  auto order = read_record<Order>(text, kFirstOfOrder);
  if (!order || !order->task.id.valid() || order->attempt == 0) return std::nullopt;
  // A shim that looked all the time would take a processor from its task.
  if (order->worker.memory_interval < kLeastMemoryInterval) return std::nullopt;
  return order;
}

std::optional<AttemptResult> result_from(std::string_view text) {
  return read_record<AttemptResult>(text, kFirstOfResult);
}

}  // namespace muster::process
