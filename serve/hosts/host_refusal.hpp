#pragma once

namespace muster::hosts {

/// Status of HTTP that answers a refusal.
enum HostRefusal : int {
  kHostMalformed = 400,
  kHostForbidden = 403,
  kHostUnknown = 404,
  kHostConflict = 409,
  kHostUnfit = 422,
  kHostStorage = 500
};

}  // namespace muster::hosts
