// SPDX-License-Identifier: GPL-2.0-only

use std::collections::VecDeque;

use fnv::FnvHashMap;

/// What is in lists and trees: the addresses of nodes in their order, by the address of the head. A tree is kept as a
/// list in order; what can be seen of it is the same.
#[derive(Debug, Default)]
pub struct Members {
    nodes: FnvHashMap<u64, VecDeque<u64>>,
    heads: FnvHashMap<u64, u64>,
}

impl Members {
    /// The head that a node is at.
    pub fn head(&self, node: u64) -> Option<u64> {
        self.heads.get(&node).copied()
    }

    pub fn count(&self, head: u64) -> usize {
        self.nodes.get(&head).map_or(0, VecDeque::len)
    }

    pub fn get(&self, head: u64, place: usize) -> Option<u64> {
        self.nodes.get(&head)?.get(place).copied()
    }

    /// Puts a node, which is nowhere, at a place, or behind the last one.
    pub fn insert(&mut self, head: u64, place: usize, node: u64) {
        let nodes = self.nodes.entry(head).or_default();
        nodes.insert(place.min(nodes.len()), node);
        self.heads.insert(node, head);
    }

    /// Takes a node away from its head. False if it is not there.
    pub fn remove(&mut self, head: u64, node: u64) -> bool {
        if self.head(node) != Some(head) {
            return false;
        }
        self.heads.remove(&node);
        if let Some(nodes) = self.nodes.get_mut(&head) {
            nodes.retain(|&each| each != node);
        }
        true
    }

    /// Takes all nodes away from a head.
    pub fn clear(&mut self, head: u64) -> Vec<u64> {
        let nodes = self.nodes.remove(&head).unwrap_or_default();
        nodes.iter().for_each(|node| {
            self.heads.remove(node);
        });
        nodes.into()
    }
}
