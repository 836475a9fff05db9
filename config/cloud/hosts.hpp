#pragma once

#include "config/cloud/cloud_module.hpp"

namespace muster::config {

/// Machines of one's own that have joined; in a replay as the loopback cloud.
template <class C>
CloudModule<C> hosts_cloud() {
  using Time = TimeKeyOf<C>;
  using std::chrono::seconds;
  CloudModule<C> module{"hosts"};
  module.keys = {
      {"cloud.host_lease",
       "silence of the connector after which a joined machine ends what runs on it, and a little "
       "later counts as gone; 0: never, until an admin says `muster hosts lost N`",
       Time{[](C& c) -> Duration& { return c.cloud.own.template of<HostsCloudSettings>().lease; },
            Duration{}, std::chrono::hours{24 * 7}}},
      {"cloud.host_report", "between two reports of a joined machine; at most a tenth of the lease",
       Time{[](C& c) -> Duration& { return c.cloud.own.template of<HostsCloudSettings>().report; },
            std::chrono::milliseconds{100}, seconds{60}}}};
  return module;
}

}  // namespace muster::config
