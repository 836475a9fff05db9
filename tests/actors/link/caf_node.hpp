#pragma once

#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <caf/openssl/all.hpp>
#include <chrono>

#include "actors/link/tls.hpp"

namespace muster::test {

/// CAF as a node of the cluster sets it up: mutual TLS, heartbeats.
struct CafNodeConfig : caf::actor_system_config {
  explicit CafNodeConfig(const TlsFiles& files) {
    load<caf::io::middleman>().load<caf::openssl::manager>();
    set("middleman.heartbeat-interval", caf::timespan{std::chrono::milliseconds{500}});
    set("middleman.connection-timeout", caf::timespan{std::chrono::seconds{5}});
    set("scheduler.max-threads", 2);
    openssl_cafile = files.trusted.string();
    openssl_certificate = files.certificate.string();
    openssl_key = files.key.string();
  }
};

}  // namespace muster::test
