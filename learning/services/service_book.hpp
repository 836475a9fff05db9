#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "learning/services/measured.hpp"

namespace muster {

/// The measurements of a bounded number of services.
class ServiceBook {
 public:
  /// Of at most that many services, once those above are erased.
  explicit ServiceBook(std::uint32_t most) : most_(most) {}

  struct Entry {
    std::uint32_t size = 0;  ///< at which all was measured, where that matters
    std::vector<MeasuredPoint> measured{};

    friend bool operator==(const Entry&, const Entry&) = default;
  };

  /// The entry of a service, made when it is absent.
  Entry& entry(std::uint64_t service) { return entries_[service]; }
  const Entry* find(std::uint64_t service) const;
  std::span<const MeasuredPoint> measured(std::uint64_t service) const;
  void erase(std::uint64_t service) { entries_.erase(service); }
  /// Whether there are more services than there may be, and of them the one with the least number.
  bool is_over() const { return entries_.size() > most_; }
  std::uint64_t first() const { return entries_.begin()->first; }
  const std::map<std::uint64_t, Entry>& entries() const { return entries_; }

  void write(ModelWriter& out) const;
  /// Entries with sizes below `sizes` and measurements below `points`.
  void read(ModelReader& in, std::uint32_t sizes, std::uint32_t points);
  friend bool operator==(const ServiceBook&, const ServiceBook&) = default;

 private:
  std::uint32_t most_;
  std::map<std::uint64_t, Entry> entries_;
};

}  // namespace muster
