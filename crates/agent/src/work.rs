//! Small programs that a workload may run: work with nothing but the scheduler in it.

pub mod counters;
