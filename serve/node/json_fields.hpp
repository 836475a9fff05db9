#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/job_documents.hpp"
#include "model/views.hpp"
#include "serve/node/json_text.hpp"

namespace muster {

/// Writes the members that `fields` of a view names into the object that is open.
class JsonFields {
 public:
  explicit JsonFields(JsonText& out) : out_(out) {}

  template <class T>
  void operator()(ViewKey key, const T& value) {
    const bool quiet = key.shown == InDocument::or_null || key.shown == InDocument::if_any;
    if (quiet && says_nothing(value)) {
      if (key.shown == InDocument::or_null) out_.key(key.name).value(nullptr);
      return;
    }
    out_.key(key.name);
    put(value);
  }

  void operator()(InsideKey, const auto&) {}
  void operator()(AmongKey, const auto& view) { fields(*this, view); }
  void operator()(OthersKey, const std::vector<NamedJson>& members) {
    for (const NamedJson& each : members) out_.text_key(each.name).raw(each.json);
  }

 protected:
  JsonText& out() { return out_; }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (Described<T>) {
      out_.begin_object();
      fields(*this, value);
      out_.end_object();
    } else if constexpr (std::is_enum_v<T>) {
      out_.value(name_of(value));
    } else {
      out_.value(value);
    }
  }
  void put(Duration length) { out_.value(to_seconds(length)); }
  template <class T>
  void put(const std::optional<T>& value) {
    value ? put(*value) : static_cast<void>(out_.value(nullptr));
  }
  template <class T>
  void put(const std::vector<T>& list) {
    out_.begin_list();
    for (const T& each : list) put(each);
    out_.end_list();
  }
  void put(std::vector<FigureView> figures) {
    std::stable_sort(figures.begin(), figures.end(),
                     [](const FigureView& a, const FigureView& b) { return a.name < b.name; });
    out_.begin_object();
    for (std::size_t i = 0; i < figures.size(); ++i) {
      // The last of a name counts.
      const bool again = i + 1 < figures.size() && figures[i + 1].name == figures[i].name;
      if (!again) out_.text_key(figures[i].name).value(figures[i].value);
    }
    out_.end_object();
  }
  void put(const Labels& labels) {
    out_.begin_object();
    for (const auto& [key, value] : labels) out_.text_key(key).value(value);
    out_.end_object();
  }
  /// By the names of the kinds.
  void put(const Resources& amounts) {
    out_.begin_object();
    for (Resource kind : kAllResources) {
      if (is_always_shown(kind) || amounts[kind] != 0) out_.field(name_of(kind), amounts[kind]);
    }
    out_.end_object();
  }

  JsonText& out_;
};

}  // namespace muster
