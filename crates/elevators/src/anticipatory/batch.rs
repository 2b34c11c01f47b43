// SPDX-License-Identifier: GPL-2.0-only
//! Alternates batches of reads and writes, and adapts how many writes a batch may hold.

use super::kind::Kind;
use crate::time::MS;

/// A switch waits until everything in flight has completed.
#[derive(Debug, PartialEq, Eq)]
pub enum Pending {
    Nothing,
    Drains,
    /// The batch starts: its first request is to be chosen.
    Starts,
}

pub struct Batches {
    pub kind: Kind,
    /// How long a batch of each kind lasts while the other waits.
    expire_ns: [u64; 2],
    /// When the running batch ends if the other kind waits.
    expires: u64,
    changing: bool,
    /// A batch of reads runs that has no completion yet: it is timed from its first one.
    untimed: bool,
    write_started: u64,
    /// How many writes a batch may hold; adapted so that it lasts as long as its expiry.
    pub write_batch_count: u64,
    writes_left: u64,
    /// No read waited for the end of the batch of writes, so its length means nothing.
    write_batch_idled: bool,
}

impl Batches {
    pub fn new(read_expire_ns: u64, write_expire_ns: u64) -> Self {
        // A tenth of the expiry in ticks of 1 ms, at least 2 (as_init_queue).
        let write_batch_count = (write_expire_ns / MS / 10).max(2);
        Self {
            kind: Kind::Sync,
            expire_ns: [read_expire_ns, write_expire_ns],
            expires: 0,
            changing: false,
            untimed: false,
            write_started: 0,
            write_batch_count,
            writes_left: 0,
            write_batch_idled: false,
        }
    }

    pub fn expired(&self, now: u64) -> bool {
        !self.untimed && (now > self.expires || (self.kind == Kind::Async && self.writes_left == 0))
    }

    /// Restarts the time of a batch of reads: it counts from the moment when writes wait.
    pub fn restart(&mut self, now: u64) {
        if self.kind == Kind::Sync {
            self.expires = now + self.expire_ns[Kind::Sync as usize];
        }
    }

    /// Begins a batch of `to`; false if it has to wait for requests in flight.
    pub fn switch(&mut self, to: Kind, in_flight: usize, now: u64) -> bool {
        self.changing = to != self.kind;
        self.kind = to;
        if to == Kind::Async {
            self.untimed = false;
            self.writes_left = self.write_batch_count;
            self.write_batch_idled = false;
            self.expires = now + self.expire_ns[Kind::Async as usize];
            self.write_started = now;
        }
        self.pending(in_flight, now) != Pending::Drains
    }

    /// Whether a switch is under way.
    pub fn pending(&mut self, in_flight: usize, now: u64) -> Pending {
        if !self.changing {
            return Pending::Nothing;
        }
        if in_flight > 0 {
            return Pending::Drains;
        }
        self.changing = false;
        match self.kind {
            Kind::Sync => self.untimed = true,
            Kind::Async => {
                self.expires = now + self.expire_ns[Kind::Async as usize];
                self.write_started = now;
            }
        }
        Pending::Starts
    }

    /// Called before each choice.
    pub fn note_idle(&mut self, reads: bool, writes: bool) {
        if self.kind == Kind::Async && !reads && (self.writes_left == 0 || !writes) {
            self.write_batch_idled = true;
        }
    }

    pub fn dispatched(&mut self, kind: Kind) {
        if kind == Kind::Async {
            self.writes_left = self.writes_left.saturating_sub(1);
        }
    }

    pub fn completed(&mut self, kind: Kind, now: u64) {
        if self.untimed && self.kind == Kind::Sync && kind == Kind::Sync {
            self.adapt(now - self.write_started);
            self.expires = now + self.expire_ns[Kind::Sync as usize];
            self.untimed = false;
        }
    }

    /// Adapts to `took_ns`, the time from the start of the last batch of writes to the first read
    /// after it (update_write_batch).
    fn adapt(&mut self, took_ns: u64) {
        let meant = self.expire_ns[Kind::Async as usize];
        let count = self.write_batch_count;
        let adapted = if took_ns > meant && !self.write_batch_idled {
            if took_ns > 3 * meant { count / 2 } else { count - 1 }
        } else if took_ns < meant && self.writes_left == 0 {
            if meant > 3 * took_ns { count * 2 } else { count + 1 }
        } else {
            count
        };
        self.write_batch_count = adapted.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One batch of writes that is used up or not, and the first read after it.
    fn batch(batches: &mut Batches, start: u64, took_ms: u64, used_up: bool) -> u64 {
        assert!(batches.switch(Kind::Async, 0, start));
        let writes = if used_up { batches.write_batch_count } else { 1 };
        (0..writes).for_each(|_| batches.dispatched(Kind::Async));
        let end = start + took_ms * MS;
        assert!(batches.switch(Kind::Sync, 0, end));
        batches.completed(Kind::Sync, end);
        batches.write_batch_count
    }

    #[test]
    fn the_number_of_writes_follows_the_time_they_take() {
        let mut batches = Batches::new(500 * MS, 125 * MS);
        assert_eq!(batches.write_batch_count, 12);
        assert_eq!(batch(&mut batches, 0, 130, true), 11, "a little too long");
        assert_eq!(batch(&mut batches, 1000 * MS, 376, true), 5, "more than three times too long");
        assert_eq!(batch(&mut batches, 2000 * MS, 100, true), 6, "a little too short");
        assert_eq!(batch(&mut batches, 3000 * MS, 41, true), 12, "less than a third");
        assert_eq!(
            batch(&mut batches, 4000 * MS, 41, false),
            12,
            "short because there were no more writes"
        );
        assert_eq!(batch(&mut batches, 5000 * MS, 125, true), 12, "as meant");
    }

    #[test]
    fn a_batch_that_no_read_waited_for_says_nothing() {
        let mut batches = Batches::new(500 * MS, 125 * MS);
        assert!(batches.switch(Kind::Async, 0, 0));
        batches.note_idle(false, false);
        assert!(batches.switch(Kind::Sync, 0, 1000 * MS));
        batches.completed(Kind::Sync, 1000 * MS);
        assert_eq!(batches.write_batch_count, 12);
    }

    #[test]
    fn one_write_is_the_least() {
        let mut batches = Batches::new(500 * MS, MS);
        for round in 0..5 {
            assert!(batch(&mut batches, round * 1000 * MS, 500, true) >= 1);
        }
        assert_eq!(batches.write_batch_count, 1);
    }
}
