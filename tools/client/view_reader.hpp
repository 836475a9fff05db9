#pragma once

#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "model/job_documents.hpp"
#include "model/views.hpp"
#include "tools/client/fields.hpp"
#include "tools/client/printable.hpp"

namespace muster::client {

/// The view that the object of a document is; a member that it has to have and lacks, or that is of
/// another kind, is the object's fault.
template <class View>
View read_view(const Fields& object);

/// Sets the members that `fields` of a view names to what a document of the API says. Members that
/// earlier versions did not send keep their defaults.
class ViewReader {
 public:
  explicit ViewReader(const Fields& object) : object_(object) {}

  template <class T>
  void operator()(ViewKey key, T& value) {
    const char* name = key.name.data();  // of a literal: it ends with a 0
    const bool may_lack = key.shown == InDocument::later || key.shown == InDocument::if_any;
    if (may_lack && !object_.has(name)) return;
    if (key.shown != InDocument::always && object_.null(name)) return;
    read(name, value);
  }
  void operator()(InsideKey, auto&) {}
  void operator()(AmongKey, auto& view) { fields(*this, view); }
  void operator()(OthersKey key, std::vector<NamedJson>& members) {
    for (const auto& [name, value] : object_.members().items()) {
      if (key.is_named(name)) continue;
      const std::string json = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      members.push_back({printable(name), printable(json)});
    }
  }

 private:
  template <class T>
  void read(const char* key, T& value) {
    if constexpr (Described<T>) {
      value = read_view<T>(object_.object(key));
    } else if constexpr (std::is_enum_v<T>) {
      // A word that this version does not know becomes a value without a name.
      constexpr auto kNone = static_cast<T>(std::numeric_limits<std::underlying_type_t<T>>::max());
      value = named<T>(object_.text(key)).value_or(kNone);
    } else if constexpr (std::is_unsigned_v<T>) {
      value = static_cast<T>(object_.count(key, std::numeric_limits<T>::max()));
    } else {
      static_assert(std::is_integral_v<T>);
      value = static_cast<T>(object_.whole(key, std::numeric_limits<T>::max()));
    }
  }
  void read(const char* key, bool& value) { value = object_.truth(key); }
  void read(const char* key, double& value) { value = object_.number(key); }
  void read(const char* key, std::string& value) { value = object_.text(key); }
  void read(const char* key, Duration& value) { value = object_.seconds(key); }
  void read(const char* key, Instant& value) { value = Instant{object_.seconds(key)}; }
  void read(const char* key, std::vector<std::string>& value) { value = object_.texts(key); }
  template <class Tag, class Number>
  void read(const char* key, Id<Tag, Number>& id) {
    read(key, id.value);
  }
  template <class T>
  void read(const char* key, std::optional<T>& value) {
    value.reset();
    if (!object_.null(key)) read(key, value.emplace());
  }
  template <class T>
  void read(const char* key, std::vector<T>& list) {
    list = object_.list(key, read_view<T>);
  }
  void read(const char* key, std::vector<FigureView>& figures) {
    const Fields named = object_.object(key);
    for (const auto& [name, value] : named.members().items()) {
      const bool finite = !named.null(name.c_str());
      figures.push_back({printable(name), finite ? named.number(name.c_str())
                                                 : std::numeric_limits<double>::quiet_NaN()});
    }
  }
  void read(const char* key, Labels& labels) {
    const Fields named = object_.object(key);
    for (const auto& [name, value] : named.members().items()) {
      labels.emplace_back(printable(name), named.text(name.c_str()));
    }
  }
  /// By the names of the kinds.
  void read(const char* key, Resources& amounts) {
    const Fields kinds = object_.object(key);
    for (const Resource kind : kAllResources) {
      const std::string name(name_of(kind));
      if (is_always_shown(kind) || kinds.has(name.c_str()))
        amounts[kind] = kinds.number(name.c_str());
    }
  }

  const Fields& object_;
};

/// Goes over the view's own `fields`.
template <class View>
View read_view(const Fields& object) {
  View view{};
  ViewReader reader(object);
  fields(reader, view);
  return view;
}

}  // namespace muster::client
