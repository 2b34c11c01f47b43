// SPDX-License-Identifier: GPL-2.0-only
//! A reference for the deadline of blk-mq.

use super::{Waiting, lowest, oldest};
use elevators::{Class, Direction, Request};

const SECOND: u64 = 1_000_000_000;

/// Deadline of blk-mq with default parameters, sectors all different.
#[derive(Default)]
pub struct MqDeadline {
    waiting: Waiting,
    flying: Vec<Request>,
    /// The next request in sort order in each class.
    following: [Option<u64>; 3],
    batch: u64,
    reads_preferred: u64,
}

impl MqDeadline {
    pub fn add(&mut self, request: Request, now: u64) {
        self.waiting.push((request, now));
    }

    pub fn completed(&mut self, request: &Request) {
        self.flying.retain(|other| other.id != request.id);
    }

    pub fn next(&mut self, now: u64) -> Option<Request> {
        let of = |class: Class| move |request: &Request| request.priority.class == class;
        let classes = [Class::RealTime, Class::BestEffort, Class::Idle];
        let with_requests =
            classes.iter().filter(|class| oldest(&self.waiting, of(**class)).is_some()).count();
        let aged = classes[1..].iter().copied().find(|class| {
            self.waiting
                .iter()
                .any(|(request, since)| of(*class)(request) && since + 10 * SECOND <= now)
        });
        let class = match aged.filter(|_| with_requests > 1) {
            Some(class) => class,
            None => {
                let used = |class: &Class| {
                    self.flying.iter().any(of(*class))
                        || oldest(&self.waiting, of(*class)).is_some()
                };
                classes.into_iter().find(used)?
            }
        };
        oldest(&self.waiting, of(class))?;
        let following = self.following[class as usize];
        let following =
            following.and_then(|id| self.waiting.iter().position(|(request, _)| request.id == id));
        let index = match following.filter(|_| self.batch < 16) {
            Some(index) => index,
            None => {
                self.batch = 0;
                self.start(class, following, now)
            }
        };
        let (request, _) = self.waiting.remove(index);
        self.batch += 1;
        self.flying.push(request);
        let beyond = |other: &Request| {
            of(class)(other) && other.direction == request.direction && other.first > request.first
        };
        self.following[class as usize] =
            lowest(&self.waiting, beyond).map(|index| self.waiting[index].0.id);
        Some(request)
    }

    fn start(&mut self, class: Class, following: Option<usize>, now: u64) -> usize {
        let of = |direction| {
            move |request: &Request| {
                request.priority.class == class && request.direction == direction
            }
        };
        let [reads, writes] = [Direction::Read, Direction::Write]
            .map(|direction| oldest(&self.waiting, of(direction)));
        let preferred = reads.is_some() && (writes.is_none() || self.reads_preferred < 2);
        self.reads_preferred = match (preferred, writes) {
            (true, Some(_)) => self.reads_preferred + 1,
            (true, None) => self.reads_preferred,
            (false, _) => 0,
        };
        let (head, limit) = if preferred { (reads, SECOND / 2) } else { (writes, 5 * SECOND) };
        let head = head.expect("the class has requests");
        let stays = following
            .filter(|index| self.waiting[*index].0.direction == self.waiting[head].0.direction);
        stays.filter(|_| self.waiting[head].1 + limit > now).unwrap_or(head)
    }
}
