#pragma once

#include <memory>
#include <string>
#include <utility>

#include "serve/api/host_routes.hpp"
#include "serve/hosts/host_book.hpp"

namespace muster::hosts {

/// The book of machines, in the shapes of docs/api.md.
class BookAdmin final : public api::HostAdmin {
 public:
  /// `authority`: SHA-256 of the nodes' authority, which join tokens carry.
  BookAdmin(std::shared_ptr<HostBook> book, Duration lease, std::string authority)
      : book_(std::move(book)), lease_(lease), authority_(std::move(authority)) {}

  api::Response hosts() override;
  api::Response declare_lost(std::uint64_t host, const std::string& body) override;
  api::Response remove(std::uint64_t host, const std::string& body) override;
  api::Response drain(std::uint64_t host, bool drained) override;
  api::Response label(std::uint64_t host, const std::string& body) override;
  api::Response join_tokens() override;
  api::Response create_join_token(const std::string& body) override;
  api::Response revoke_join_token(const std::string& id) override;

 private:
  std::shared_ptr<HostBook> book_;
  Duration lease_;
  std::string authority_;
};

}  // namespace muster::hosts
