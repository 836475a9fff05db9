#pragma once

#include <string>

#include "actors/cloud/cloud_provider.hpp"
#include "model/time.hpp"

namespace muster {

/// The connector, as its parts see it: its time, its turns and the log of its node. Parts are
/// plain classes, and all calls of them are turns of the connector.
class ConnectorHost : public CloudHost {
 public:
  /// The time of whatever changes a bill: the last multiple of the billing quantum.
  virtual Instant billed_now() const = 0;
  /// Writes a line to the node's log.
  virtual void note(const std::string& text) const = 0;
};

}  // namespace muster
