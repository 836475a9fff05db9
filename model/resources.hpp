#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/enum_words.hpp"

namespace muster {

/// A kind of resource that a task asks for and an instance has. Units: cores, GiB, devices, GiB,
/// Gbit/s; the spare kind is the cluster's own to give a meaning to.
enum class Resource : std::uint8_t { gpu, cpu, memory, storage, network, spare };
constexpr auto words_of(Resource) {
  using E = Resource;
  return std::to_array<EnumWord<E>>({{E::gpu, "gpu"},
                                     {E::cpu, "cpu"},
                                     {E::memory, "memory"},
                                     {E::storage, "storage"},
                                     {E::network, "network"},
                                     {E::spare, "spare"}});
}
inline constexpr std::size_t kResourceKinds = kEnumerators<Resource>;

/// Amounts within this much of each other are equal; everything that compares amounts uses it.
inline constexpr double kResourceEpsilon = 1e-9;

/// An amount of every kind of resource.
class Resources {
 public:
  constexpr Resources() = default;
  /// The three kinds that most workloads state.
  static constexpr Resources of(double gpu, double cpu, double memory_gib) {
    Resources r;
    r.amount_ = {gpu, cpu, memory_gib, 0, 0, 0};
    return r;
  }

  constexpr double operator[](Resource kind) const { return amount_[index(kind)]; }
  constexpr double& operator[](Resource kind) { return amount_[index(kind)]; }
  constexpr const std::array<double, kResourceKinds>& amounts() const { return amount_; }

  constexpr Resources& operator+=(const Resources& other) {
    for (std::size_t i = 0; i < kResourceKinds; ++i) amount_[i] += other.amount_[i];
    return *this;
  }
  constexpr Resources& operator-=(const Resources& other) {
    for (std::size_t i = 0; i < kResourceKinds; ++i) amount_[i] -= other.amount_[i];
    return *this;
  }
  friend constexpr Resources operator+(Resources a, const Resources& b) { return a += b; }
  friend constexpr Resources operator-(Resources a, const Resources& b) { return a -= b; }
  friend constexpr bool operator==(const Resources&, const Resources&) = default;

  /// No kind exceeds `room`.
  constexpr bool fits_in(const Resources& room) const {
    for (std::size_t i = 0; i < kResourceKinds; ++i) {
      if (amount_[i] > room.amount_[i] + kResourceEpsilon) return false;
    }
    return true;
  }

  /// The first kind that exceeds `room`, if any: the one that a refusal names.
  std::optional<Resource> first_exceeding(const Resources& room) const;

  /// The largest amount/capacity over the kinds that `capacity` has; 0 when it has no kind.
  double dominant_share(const Resources& capacity) const;

  /// The kind with that largest share; the first one on ties.
  Resource dominant(const Resources& capacity) const;

 private:
  static constexpr std::size_t index(Resource kind) { return static_cast<std::size_t>(kind); }
  std::array<double, kResourceKinds> amount_{};
};

inline constexpr auto kAllResources = kAllOf<Resource>;

}  // namespace muster
