#pragma once

#include <deque>

#include "config/cluster_config.hpp"
#include "config/cluster_keys.hpp"
#include "config/key_reader.hpp"

namespace muster::config {

/// A node, and where what is said about it was said.
struct NodeEntry {
  NodeEntry(ReaderSource source, ErrorList& errors) : reader(std::move(source), node, errors) {}
  NodeEntry(const NodeEntry&) = delete;
  NodeEntry& operator=(const NodeEntry&) = delete;

  NodeConfig node;
  KeyReader<NodeConfig> reader;
};

/// A cluster file while it is read.
struct ClusterEntry {
  const ClusterConfig& config;
  KeyReader<ClusterConfig>& reader;
  std::deque<NodeEntry>& nodes;
};

/// Says what is missing and what does not belong together. Paths are resolved.
void check_cluster(const ClusterEntry& entry);

}  // namespace muster::config
