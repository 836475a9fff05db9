#include "schedulers/stratus/bin_packer.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace muster::stratus {
namespace {

constexpr OrderedRooms::Key kFromTheFirst{-std::numeric_limits<double>::infinity(), 0};

}  // namespace

std::uint32_t BinPacker::add(const Room& room) {
  rooms_.push_back({room, true});
  list(size() - 1);
  return size() - 1;
}

/// Each order has a key that list() and unlist() make of the same room: it may only change between
/// the two.
void BinPacker::list(std::uint32_t number) {
  const Room& room = rooms_[number].room;
  const std::uint32_t group = RoomGroups::of(mask_, room.type, room.market);
  Bin& bin = bins_.try_emplace(bin_of(room.remaining), RoomGroups::size(mask_)).first->second;
  bin.rising.insert(group, {to_seconds(room.remaining), number}, room.free);
  bin.freest.insert(group, freest_key(number), room.free);
}

void BinPacker::unlist(std::uint32_t number) {
  const Room& room = rooms_[number].room;
  const std::uint32_t group = RoomGroups::of(mask_, room.type, room.market);
  Bin& bin = bins_.at(bin_of(room.remaining));
  bin.rising.erase(group, {to_seconds(room.remaining), number});
  bin.freest.erase(group, freest_key(number));
}

OrderedRooms::Key BinPacker::freest_key(std::uint32_t number) const {
  return {-groups_.sum_of_shares(rooms_[number].room.free), number};
}

bool BinPacker::close(std::uint32_t number) {
  const bool was_open = std::exchange(rooms_[number].open, false);
  if (was_open) unlist(number);
  return was_open;
}

void BinPacker::open(std::uint32_t number) {
  if (!std::exchange(rooms_[number].open, true)) list(number);
}

const GroupNeeds& BinPacker::needs_of(const Item& item) {
  if (!asked_ || asked_->shape != item.shape || asked_->markets != item.markets) {
    needs_ = RoomGroups::needs(mask_, {item.shape, item.markets});
    asked_ = item;
  }
  return needs_;
}

/// Of one that lasts longer and one that does not, equally close, the longer one: the task leaves
/// its time as it is.
std::optional<std::uint32_t> BinPacker::closest(const Bin& bin, const GroupNeeds& needs,
                                                Duration remaining) const {
  const double own_s = to_seconds(remaining);
  const auto longer = bin.rising.first(needs, {own_s, 0});
  const auto shorter = bin.rising.last(needs, own_s);
  if (!longer || !shorter) {
    const auto& only = longer ? longer : shorter;
    return only ? std::optional(only->room) : std::nullopt;
  }
  return longer->order - own_s <= own_s - shorter->order ? longer->room : shorter->room;
}

std::optional<Found> BinPacker::find(const Item& item) {
  if (rules_.packing == Packing::none) return std::nullopt;
  const GroupNeeds& needs = needs_of(item);
  const std::uint32_t native = bin_of(item.remaining);
  const auto at = bins_.lower_bound(native);
  const bool is_there = at != bins_.end() && at->first == native;
  if (rules_.packing == Packing::dot) {
    if (!is_there) return std::nullopt;
    const auto found = at->second.rising.most_aligned(needs, groups_.per_unit());
    return found ? std::optional(Found{found->room, Phase::native}) : std::nullopt;
  }
  if (is_there) {
    if (const auto found = closest(at->second, needs, item.remaining)) {
      return Found{*found, Phase::native};
    }
  }
  for (auto bin = is_there ? std::next(at) : at; rules_.up && bin != bins_.end(); ++bin) {
    const auto found = bin->second.freest.first(needs, kFromTheFirst);
    if (found) return Found{found->room, Phase::up};
  }
  for (auto bin = at; rules_.down && bin != bins_.begin();) {
    --bin;
    const auto found = bin->second.freest.first(needs, kFromTheFirst);
    if (found) return Found{found->room, Phase::down};
  }
  return std::nullopt;
}

std::size_t BinPacker::fill(const Fill& fill) {
  Room next = rooms_[fill.room].room;
  const Resources need = needs_of(fill.item)[RoomGroups::of(mask_, next.type, next.market)].value();
  std::size_t count = 0;
  for (; count < fill.at_most && need.fits_in(next.free); ++count) next.free -= need;
  next.remaining = std::max(next.remaining, fill.item.remaining);
  restore(fill.room, next);
  return count;
}

/// The order by remaining times stays as it is where the time does, which is the usual case.
void BinPacker::restore(std::uint32_t number, const Room& before) {
  Entry& entry = rooms_[number];
  if (!entry.open) {
    entry.room = before;
    return;
  }
  if (entry.room.remaining != before.remaining) {
    unlist(number);
    entry.room = before;
    list(number);
    return;
  }
  const std::uint32_t group = RoomGroups::of(mask_, before.type, before.market);
  Bin& bin = bins_.at(bin_of(before.remaining));
  bin.freest.erase(group, freest_key(number));
  entry.room = before;
  bin.rising.replace(group, {to_seconds(before.remaining), number}, before.free);
  bin.freest.insert(group, freest_key(number), before.free);
}

}  // namespace muster::stratus
