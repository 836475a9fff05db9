#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "serve/api/http.hpp"
#include "serve/hosts/host_book.hpp"

namespace muster::hosts {

/// Other end of a connection to the join port.
struct JoinPeer {
  std::string address;
  std::string key_print;  ///< of its certificate's key; empty: it has shown no certificate
};

/// Parts of a desk besides the book.
struct JoinDeskSetup {
  std::filesystem::path pki;  ///< of the cluster
  std::string authority;      ///< of the nodes, PEM
  /// Hears of requests to join and how they were answered: address, status, about.
  std::function<void(const JoinPeer&, int status, const std::string& about)> audit{};
};

/// Answers requests to the join port, one at a time. It may wait for a disk.
class JoinDesk {
 public:
  JoinDesk(std::shared_ptr<HostBook> book, JoinDeskSetup setup)
      : book_(std::move(book)), setup_(std::move(setup)) {}

  api::Response answer(const api::Request& request, const JoinPeer& peer);
  HostBook& book() { return *book_; }

 private:
  api::Response join(const std::string& body, const JoinPeer& peer);
  api::Response report(const std::string& body, const JoinPeer& peer);
  api::Response certify(const std::string& body, const JoinPeer& peer);

  /// The certificate of a machine that has joined; one that asks again gets that of before.
  Expected<std::string, int> certificate_of(const HostBook::Joined& joined,
                                            const std::string& request);

  std::shared_ptr<HostBook> book_;
  JoinDeskSetup setup_;
  std::map<std::uint32_t, std::string> signed_;  ///< by the number of the machine
};

}  // namespace muster::hosts
