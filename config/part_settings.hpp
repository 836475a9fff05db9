#pragma once

#include <any>
#include <map>
#include <typeindex>

namespace muster {

/// Settings of parts that the config's own structs know nothing of: at most one struct of each
/// type. A struct that was never set has its defaults.
class PartSettings {
 public:
  template <class T>
  T& of() {
    std::any& held = held_[typeid(T)];
    if (!held.has_value()) held = T{};
    return *std::any_cast<T>(&held);
  }
  template <class T>
  const T& of() const {
    // Reading makes no entry: a const config stays as it is.
    static const T kDefaults{};
    const auto found = held_.find(typeid(T));
    return found == held_.end() ? kDefaults : *std::any_cast<T>(&found->second);
  }

 private:
  std::map<std::type_index, std::any> held_;  // never iterated: its order is the program's
};

}  // namespace muster
