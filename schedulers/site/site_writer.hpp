#pragma once

#include <functional>
#include <string>

#include "storage/stores/site_store.hpp"

namespace muster {

/// Keeps what a site promises, and knows how the last write went.
class SiteWriter {
 public:
  /// Called once, where the site lives; an empty text: the news are durable.
  using Then = std::function<void(const std::string& trouble)>;
  /// Runs a step where the site lives, before what waits there; called from any thread. Nothing is
  /// run when the site has ended.
  using Post = std::function<void(std::function<void()> step)>;

  SiteWriter(SiteStore& store, Post post);

  /// `then` is called before this returns when the store answers at once.
  void persist(SiteNews news, Then then);
  /// Why the last write failed; empty: it did not.
  const std::string& trouble() const { return trouble_; }

 private:
  SiteStore& store_;
  Post post_;
  std::string trouble_;
};

}  // namespace muster
