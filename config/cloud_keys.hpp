#pragma once

#include <fmt/format.h>

#include "config/cloud/delays.hpp"
#include "config/cloud/hosts.hpp"
#include "config/cloud/loopback.hpp"
#include "config/cloud/trace.hpp"
#include "config/key_reader.hpp"

namespace muster::config {

/// All cloud providers that a config may name.
template <class C>
std::vector<CloudModule<C>> cloud_modules() {
  return {
#define MUSTER_CLOUD(NAME) NAME##_cloud<C>(),
#include "config/cloud/clouds.def"
#undef MUSTER_CLOUD
  };
}

/// The keys that every provider has.
template <class C>
std::vector<KeySpecOf<C>> every_cloud_keys() {
  using U32 = std::uint32_t;
  using Whole = WholeKeyOf<C>;
  using Number = NumberKeyOf<C>;
  using Time = TimeKeyOf<C>;
  constexpr U32 kMany = 10'000'000;
  constexpr Duration kNone{};
  constexpr Duration kShortest = std::chrono::milliseconds{1};
  constexpr Duration kHour = std::chrono::hours{1};
  std::vector<std::string> names;
  for (const CloudModule<C>& module : cloud_modules<C>()) names.push_back(module.name);
  return {
      {"cloud.provider", "which cloud instances are rented from",
       word_key<C>(names, [](C& c) -> std::string& { return c.cloud.provider; })},
      {"cloud.own_families",
       "families of the catalog whose types are machines of one's own that have joined, used "
       "beside the instances of the provider; in a replay cloud.max_by_type says how many there "
       "are",
       ListKeyOf<C>{[](C& c) -> std::vector<std::string>& { return c.cloud.own_families; }}},
      {"cloud.max_instances",
       "most instances that the cloud runs at once; 0: no limit; not given: no limit in a replay; "
       "live 16 a core, as each is a process of its computer, but no more than its memory holds at "
       "128 MiB each",
       Whole{[](C& c) -> std::optional<U32>& { return c.cloud.max_instances; }, 0, kMany}},
      {"cloud.max_by_type", "most instances of a type at once: { \"c7i.large\" = 3 }",
       CountsKeyOf<C>{[](C& c) -> std::map<std::string, U32>& { return c.cloud.max_by_type; }, 0,
                      kMany}},
      {"cloud.max_spot", "most spot instances at once; not given: no limit",
       Whole{[](C& c) -> std::optional<U32>& { return c.cloud.max_spot; }, 0, kMany}},
      {"cloud.max_on_demand", "most on-demand instances at once; not given: no limit",
       Whole{[](C& c) -> std::optional<U32>& { return c.cloud.max_on_demand; }, 0, kMany}},
      {"cloud.delay_scale", "factor on the catalog's delays and on the notice of an interruption",
       Number{[](C& c) -> double& { return c.cloud.delay_scale; }, {0, 1e4}}},
      {"cloud.notice", "from the notice of an interruption to the instance's end",
       Time{[](C& c) -> Duration& { return c.cloud.notice; }, kNone, 24 * kHour}},
      {"cloud.reclaim",
       "time that an instance is billed after the request to end it, on top of the catalog's "
       "terminate_s",
       Time{[](C& c) -> Duration& { return c.cloud.reclaim; }, kNone, 12 * kHour}},
      {"cloud.interruptions_per_h",
       "expected number in an hour of one spot instance, by themselves",
       Number{[](C& c) -> double& { return c.cloud.interruptions_per_h; }, {0, 3600}}},
      {"cloud.memory_reserve_gib",
       "live: the cloud refuses an instance when its worker would leave the computer less free "
       "memory",
       Number{[](C& c) -> double& { return c.cloud.memory_reserve_gib; }, {0, 1e6}}},
      {"cloud.halt_grace", "live: time that the processes of a machine have to end after SIGTERM",
       Time{[](C& c) -> Duration& { return c.cloud.halt_grace; }, kNone, kHour}},
      {"cloud.launch_tries",
       "tries of an order that the cloud is too busy for or fails at, before the order is refused",
       Whole{[](C& c) -> U32& { return c.cloud.launch_tries; }, 1, 1000}},
      {"cloud.retry_pause",
       "pause before the second try of an order; doubled with each further one",
       Time{[](C& c) -> Duration& { return c.cloud.retry_pause; }, kShortest, kHour}},
      {"cloud.retry_longest", "longest pause before another try of an order",
       Time{[](C& c) -> Duration& { return c.cloud.retry_longest; }, kShortest, 24 * kHour}},
      {"cloud.list_every",
       "from one comparison of the cloud's instances with the store to the next; 0: only when they "
       "may differ",
       Time{[](C& c) -> Duration& { return c.cloud.list_every; }, kNone, 24 * kHour}},
      {"cloud.keep_changes",
       "changes of prices and availability that are kept for masters that have not heard of them, "
       "besides the newest of each offering",
       Whole{[](C& c) -> U32& { return c.cloud.keep_changes; }, 2, 100'000}}};
}

/// The keys of [cloud], wherever a cloud is configured: C has a CloudConfig `cloud`.
template <class C>
std::vector<KeySpecOf<C>> cloud_keys() {
  std::vector<KeySpecOf<C>> all = every_cloud_keys<C>();
  const std::vector<KeySpecOf<C>> delays = delay_keys<C>();
  all.insert(all.end(), delays.begin(), delays.end());
  for (const CloudModule<C>& module : cloud_modules<C>()) {
    all.insert(all.end(), module.keys.begin(), module.keys.end());
  }
  return all;
}

/// Complains about the first key that only this provider reads, which is not the one in use.
template <class C>
void check_unread(const CloudModule<C>& module, const C& parsed, KeyReader<C>& reader) {
  for (const KeySpecOf<C>& key : module.keys) {
    if (!reader.given(key.name)) continue;
    reader.complain(key.name,
                    fmt::format("is read by the provider {} alone, and no provider is given: say "
                                "cloud.provider = \"{}\" beside it, or \"{}\" to have it passed "
                                "over",
                                module.name, module.name, parsed.cloud.provider));
    return;
  }
}

/// Says what the provider that is named needs and was not given, and what was given for nothing.
template <class C>
void check_cloud(const C& parsed, KeyReader<C>& reader) {
  for (const CloudModule<C>& module : cloud_modules<C>()) {
    if (module.name == parsed.cloud.provider) {
      for (const std::string& key : module.needs) {
        reader.need(key, fmt::format(", and the provider is {}", module.name));
      }
      // A config that names another provider on purpose may leave the keys of this one where they
      // stand.
    } else if (!reader.given("cloud.provider") &&
               !(module.name == "hosts" && parsed.cloud.takes_machines())) {
      check_unread(module, parsed, reader);
    }
  }
}

}  // namespace muster::config
