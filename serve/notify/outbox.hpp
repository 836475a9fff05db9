#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/letter.hpp"
#include "model/time.hpp"

namespace muster::notify {

/// How one try to send a letter ended.
struct Delivery {
  bool arrived = false;
  std::string why;   ///< of one that has not arrived; names no address
  Duration pause{};  ///< as the receiver asks for; 0: it does not
};

/// Letters that wait to be sent: which goes next, and when one that failed goes again. Letters of
/// one user to one address are a lane, which rests after a failure, twice as long each time: a dead
/// receiver costs a try now and then, however many letters are for it. Users take turns, and so do
/// the lanes of a user. Pure; O(log of all) for each letter.
class Outbox {
 public:
  struct Bounds {
    std::uint32_t tries = 10;  ///< of a letter
    Duration age{};            ///< of a letter
    Duration retry{};          ///< rest of a lane after its first failure
    Duration retry_longest{};
    std::uint32_t of_user = 4;      ///< letters of one user under way at once; from 1
    std::uint32_t at_receiver = 2;  ///< at one host
  };
  struct Entry {
    Letter letter;
    std::function<void()> settled;
    std::uint32_t tries = 0;
    std::string why{};  ///< of the last failure
  };
  explicit Outbox(const Bounds& bounds) : bounds_(bounds) {}

  void add(Letter letter, std::function<void()> settled);
  /// The letter to be tried now; nothing: no letter may. put_back() follows. Those that have become
  /// too old are put into `given_up` instead, some at a time.
  std::optional<Entry> take(Instant now, std::vector<Entry>& given_up);
  /// A try has ended. The letter, where it was the last one of a letter that has not arrived.
  std::optional<Entry> put_back(Entry entry, const Delivery& delivery, Instant now);
  /// When a lane that rests now is to go on; nothing: no lane rests.
  std::optional<Instant> rests_until() const;

  std::size_t waiting() const { return waiting_; }

 private:
  using LaneKey = std::pair<std::string, std::string>;  ///< a user and an address
  struct Lane {
    std::string receiver{};
    std::deque<Entry> entries{};
    std::uint32_t failures = 0;  ///< since the last letter that has arrived
    Instant rests_until{};
    bool queued = false;  ///< in its user's `ready`, at its receiver, or among those that rest
    std::uint32_t under_way = 0;
  };
  struct User {
    std::deque<LaneKey> ready{};
    std::uint32_t under_way = 0;
    bool queued = false;  ///< in turns_
  };
  struct Receiver {
    /// That wait for one of its places, by their users.
    std::map<std::string, std::deque<LaneKey>> parked{};
    std::string last{};  ///< user whose lane got a place last
    std::uint32_t under_way = 0;
  };

  void queue(const LaneKey& key, Instant now);
  void make_ready(const LaneKey& key);
  void wake(Instant now);
  bool drop_old(Lane& lane, Instant now, std::vector<Entry>& given_up);
  void unpark(Receiver& receiver);
  Duration pause_after(Lane& lane, const Delivery& delivery) const;
  void forget_if_empty(const LaneKey& key);
  std::optional<Entry> take_of(const std::string& user, Instant now, std::vector<Entry>& given_up);

  const Bounds bounds_;
  std::map<LaneKey, Lane> lanes_;
  std::map<std::string, User> users_;
  std::map<std::string, Receiver> receivers_;
  std::deque<std::string> turns_;  ///< users with lanes that are ready
  std::set<std::pair<Instant, LaneKey>> resting_;
  std::size_t waiting_ = 0;  ///< letters, those under way counted
};

/// Host of a webhook, or domain of a mail address.
std::string receiver_of(const std::string& address);

}  // namespace muster::notify
