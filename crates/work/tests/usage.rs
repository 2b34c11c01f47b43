// SPDX-License-Identifier: GPL-2.0-only
//! Impossible requests are refused with a message and the exit status of usage errors.

use std::time::Duration;

mod common;
use common::{run, workloads};

#[track_caller]
fn refused(arguments: &str, words: &str) {
    let ended = run(workloads(arguments), Duration::from_secs(5));
    ended.assert_sentence(64, words);
    assert_eq!(ended.out, "");
}

#[test]
fn lengths_of_time() {
    for program in [
        "hogs",
        "stress",
        "schbench",
        "periodic --task audio --calibration none",
        "readers /dev/zero",
    ] {
        for length in ["1e20", "nan", "inf", "-inf", "-1", "0", "1e-12", "1000001", "", "ten"] {
            refused(&format!("{program} --seconds={length}"), "--seconds");
        }
    }
    for length in ["1e20", "nan", "-1"] {
        refused(&format!("schbench --warm-up={length}"), "--warm-up");
    }
}

#[test]
fn numbers_of_tasks() {
    for count in ["0", "-1", "10001", "18446744073709551616"] {
        refused(&format!("yielders --tasks={count}"), "--tasks");
        refused(&format!("counters --processes={count}"), "--processes");
        refused(&format!("readers /dev/zero --readers={count}"), "--readers");
        refused(&format!("schbench --workers={count}"), "--workers");
        refused(&format!("schbench --message-threads={count}"), "--message-threads");
    }
    for count in ["-1", "4097"] {
        refused(&format!("load burn --threads={count}"), "--threads");
        refused(&format!("load process --processes={count}"), "--processes");
    }
}

#[test]
fn amounts_that_overflow() {
    let most = u64::MAX;
    refused(&format!("yielders --yields={most}"), "--yields");
    refused("yielders --yields=0", "--yields");
    refused(&format!("readers /dev/zero --apart-mb={most}"), "--apart-mb");
    refused(&format!("schbench --sleep-us={most}"), "--sleep-us");
    refused(&format!("hogs --sleeper-ms={most}"), "--sleeper-ms");
    refused(&format!("hogs --sleeper-ms=1 --burst-ms={most}"), "--burst-ms");
}

#[test]
fn values_that_do_not_exist() {
    refused("hogs --nice=20", "--nice");
    refused("hogs --nice=-21", "--nice");
    refused("hogs --sleeper-ms=1 --sleeper-nice=100", "--sleeper-nice");
    refused("hogs --policy=fifo", "--policy");
    refused("hogs --nice=0,0,0 --policy=batch,idle", "2 policies for 3 hogs");
    refused("load process --processes=2 --tokens=2", "fewer tokens than the 2 processes");
}

#[test]
fn a_cpu_that_is_not_there_is_named() {
    for cpu in ["1023", "100000"] {
        let ended = run(workloads(&format!("hogs --cpu={cpu}")), Duration::from_secs(5));
        ended.assert_sentence(1, &format!("cannot use only CPU {cpu}"));
    }
}

#[test]
fn memory_that_is_not_there_is_reported() {
    let words = "schbench --message-threads 256 --workers 1024 --footprint-kb 1048576";
    let ended = run(workloads(words), Duration::from_secs(5));
    ended.assert_sentence(1, "the matrices of 262144 workers need 268435456 MB");
}

#[test]
fn help_is_not_an_error() {
    let ended = run(workloads("hogs --help"), Duration::from_secs(5));
    assert_eq!((ended.code(), ended.err.as_str()), (Some(0), ""));
    assert!(ended.out.contains("--sleeper-slice-us"));
}
