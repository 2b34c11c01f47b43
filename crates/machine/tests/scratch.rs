// SPDX-License-Identifier: GPL-2.0-only
//! Leftovers of commands in their directories: mounts, links, depth, size. Nothing outside may be
//! removed with them.

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;

use common::{Bench, Precious, SOON, alone, contained};
use machine::command::Ending;
use machine::owner::Agent;
use machine::removal::remove;
use machine::root::Root;
use machine::scratch::{Scratch, Speaker, left_behind, tail};
use machine::view::{Changes, View};
use nix::mount::{MsFlags, mount, umount};

fn bind(source: &Path, target: &Path) {
    mount(Some(source), target, None::<&str>, MsFlags::MS_BIND, None::<&str>).unwrap();
}

#[test]
fn a_bind_mount_in_scratch_is_reported_and_removed_and_its_source_stays() {
    alone("a_bind_mount_in_scratch_is_reported_and_removed_and_its_source_stays", || {
        let (bench, precious) = (Bench::new(), Precious::new());
        let before = bench.view.now().unwrap();
        let containment = contained();
        let behind = precious.path().display();
        let script = format!(
            "mkdir -p \"x/a b\" && mount --bind {behind} \"x/a b\" && mount --bind {behind} $HOME"
        );
        assert_eq!(bench.run(&script, 600.0, &containment).0.ending, Ending::Exit(0));
        containment.end().unwrap();
        let home = bench.scratch.inside().to_owned();
        let mut changes = bench.view.now().unwrap().since(&before);
        changes.mounted.sort();
        let mounted = vec![home.clone(), home.join("x/a b")];
        assert_eq!(changes, Changes { mounted, unmounted: vec![] });
        assert_eq!(bench.ended(), (Ok(()), vec![]));
        assert!(precious.is_there());
    });
}

#[test]
fn a_mount_that_stays_is_reported_and_not_removed_through() {
    alone("a_mount_that_stays_is_reported_and_not_removed_through", || {
        let (bench, precious) = (Bench::new(), Precious::new());
        let containment = contained();
        let script = "mkdir -p x/y z && touch z/file";
        assert_eq!(bench.run(script, 600.0, &containment).0.ending, Ending::Exit(0));
        containment.end().unwrap();
        let (mounted, beside) =
            (bench.scratch.inside().join("x/y"), bench.scratch.inside().join("z"));
        bind(precious.path(), &mounted);
        let Bench { scratch, place, .. } = bench;
        let error = format!("{:#}", scratch.end().unwrap_err());
        assert!(error.contains("something is mounted there"), "{error}");
        assert!(precious.is_there() && !beside.exists());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
        umount(&mounted).unwrap();
    });
}

#[test]
fn a_directory_that_something_is_mounted_on_is_left_alone() {
    alone("a_directory_that_something_is_mounted_on_is_left_alone", || {
        let (bench, precious) = (Bench::new(), Precious::new());
        let home = bench.scratch.inside().to_owned();
        bind(precious.path(), &home);
        assert!(bench.scratch.empty().is_err());
        umount(&home).unwrap();
        assert!(precious.is_there());
    });
}

#[test]
fn mounts_of_a_command_are_seen_only_by_its_sample() {
    alone("mounts_of_a_command_are_seen_only_by_its_sample", || {
        let bench = Bench::new();
        let containment = contained();
        let script = "mkdir x && mount -t tmpfs apart x && touch x/y";
        assert_eq!(bench.run(script, 600.0, &containment).0.ending, Ending::Exit(0));
        assert!(!bench.scratch.inside().join("x/y").exists());
        // The next command of the same sample sees it.
        assert_eq!(bench.run("test -e x/y", 600.0, &containment).0.ending, Ending::Exit(0));
        let pid = std::process::id().to_string();
        // The process that started this test has the machine's own mounts.
        let parent = std::os::unix::process::parent_id().to_string();
        for process in [pid, parent] {
            let seen = fs::read_to_string(format!("/proc/{process}/mountinfo")).unwrap();
            assert!(!seen.contains("apart"), "{seen}");
        }
        containment.end().unwrap();
        bench.ended().0.unwrap();
    });
}

/// Otherwise a disk that is made for a sample could not be taken away after it.
#[test]
fn a_view_that_has_gone_lets_go_of_what_was_mounted() {
    alone("a_view_that_has_gone_lets_go_of_what_was_mounted", || {
        let image = tempfile::NamedTempFile::new().unwrap();
        let script = format!(
            "i={}; truncate -s 16M $i && mkfs.ext4 -q $i && losetup -f --show $i",
            image.path().display()
        );
        let made = Command::new("sh").args(["-c", &script]).output().unwrap();
        let device = String::from_utf8(made.stdout).unwrap();
        let device = Path::new(device.trim());
        if !made.status.success() {
            eprintln!("no file can be a block device here, so that this was not tried");
            return;
        }
        let is_used = || {
            let exclusive = rustix::fs::OFlags::EXCL;
            rustix::fs::open(device, exclusive, rustix::fs::Mode::empty()).is_err()
        };
        let place = tempfile::tempdir().unwrap();
        for _ in 0..20 {
            let nothing = MsFlags::empty();
            mount(Some(device), place.path(), Some("ext4"), nothing, None::<&str>).unwrap();
            let view = View::new().unwrap();
            umount(place.path()).unwrap();
            assert!(is_used());
            drop(view);
            assert!(!is_used());
        }
        assert!(Command::new("losetup").arg("-d").arg(device).status().unwrap().success());
    });
}

#[test]
fn mounts_of_the_rest_of_the_machine_are_not_the_commands() {
    alone("mounts_of_the_rest_of_the_machine_are_not_the_commands", || {
        let (bench, place) = (Bench::new(), tempfile::tempdir().unwrap());
        let before = bench.view.now().unwrap();
        let containment = contained();
        let script = format!("mount -t tmpfs x {} && umount -l /proc", place.path().display());
        bench.run(&script, 600.0, &containment);
        mount(Some("x"), place.path(), Some("tmpfs"), MsFlags::empty(), None::<&str>).unwrap();
        let changes = bench.view.now().unwrap().since(&before);
        assert_eq!(changes, Changes { mounted: vec![], unmounted: vec!["/proc".into()] });
        umount(place.path()).unwrap();
        let changes = bench.view.now().unwrap().since(&before);
        assert_eq!(changes.mounted, [place.path()]);
        containment.end().unwrap();
    });
}

#[test]
fn a_mount_in_leftovers_of_a_killed_agent_is_not_removed_through() {
    alone("a_mount_in_leftovers_of_a_killed_agent_is_not_removed_through", || {
        let precious = Precious::new();
        let gone = Agent { started: 1, ..Agent::this() };
        let left = Path::new("/run").join(format!("{gone}work-0"));
        fs::create_dir_all(left.join("x")).unwrap();
        fs::write(left.join("file"), "").unwrap();
        let (source, target) = (precious.path(), left.join("x"));
        bind(source, &target);
        assert!(left_behind(&Root::machine()).unwrap().contains(&left));
        let error = remove(&left).unwrap_err().to_string();
        assert_eq!(error, "x stays: something is mounted there");
        assert!(precious.is_there() && !left.join("file").exists());
        umount(&target).unwrap();
        remove(&left).unwrap();
        assert!(precious.is_there() && !left.exists());
    });
}

#[test]
fn a_link_in_place_of_leftovers_of_a_killed_agent_is_found_and_removed() {
    alone("a_link_in_place_of_leftovers_of_a_killed_agent_is_found_and_removed", || {
        let precious = Precious::new();
        let gone = Agent { started: 1, ..Agent::this() };
        let left = Path::new("/run").join(format!("{gone}work-0"));
        symlink(precious.path(), &left).unwrap();
        assert!(left_behind(&Root::machine()).unwrap().contains(&left));
        remove(&left).unwrap();
        assert!(precious.is_there() && left.symlink_metadata().is_err());
    });
}

#[test]
fn links_are_removed_and_not_followed() {
    let (place, precious) = (tempfile::tempdir().unwrap(), Precious::new());
    let top = place.path().join("top");
    fs::create_dir_all(top.join("a/b")).unwrap();
    symlink(precious.path(), top.join("link")).unwrap();
    symlink(precious.path(), top.join("a/b/link")).unwrap();
    symlink(precious.path().join("important"), top.join("a/file")).unwrap();
    remove(&top).unwrap();
    assert!(precious.is_there() && !top.exists());
    symlink(precious.path(), &top).unwrap();
    remove(&top).unwrap();
    assert!(precious.is_there() && top.symlink_metadata().is_err());
    remove(&place.path().join("nothing/there")).unwrap();
}

#[test]
fn depth_and_names_of_a_tree_do_not_matter() {
    let place = tempfile::tempdir().unwrap();
    let top = place.path().join("top");
    fs::create_dir_all(top.join("runoff-lifted-0/runoff-lifted-1/x")).unwrap();
    let mut at =
        rustix::fs::open(&top, rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty()).unwrap();
    // Far deeper than a path may be.
    for _ in 0..3000 {
        rustix::fs::mkdirat(&at, "deep", rustix::fs::Mode::RWXU).unwrap();
        rustix::fs::mkdirat(&at, "beside", rustix::fs::Mode::RWXU).unwrap();
        at = rustix::fs::openat(
            &at,
            "deep",
            rustix::fs::OFlags::DIRECTORY,
            rustix::fs::Mode::empty(),
        )
        .unwrap();
    }
    remove(&top).unwrap();
    assert!(!top.exists());
}

#[test]
fn modes_do_not_depend_on_the_umask() {
    alone("modes_do_not_depend_on_the_umask", || {
        rustix::process::umask(rustix::fs::Mode::empty());
        let bench = Bench::new();
        let (programs, _) = bench.scratch.search_path().split_once(':').unwrap();
        let logs = bench.scratch.stdout(Speaker::Command).parent().unwrap().to_owned();
        let containment = contained();
        assert_eq!(bench.run("true", 600.0, &containment).0.ending, Ending::Exit(0));
        let stdout = bench.scratch.stdout(Speaker::Command);
        for path in [Path::new(programs), &logs, bench.scratch.inside(), &stdout] {
            let mode = fs::metadata(path).unwrap().mode();
            assert_eq!(mode & 0o022, 0, "{} {mode:o}", path.display());
        }
        assert_eq!(fs::read_dir(programs).unwrap().count(), 1);
    });
}

#[test]
fn a_link_in_place_of_a_new_directory_is_refused() {
    alone("a_link_in_place_of_a_new_directory_is_refused", || {
        let (place, precious) = (tempfile::tempdir().unwrap(), Precious::new());
        for kind in ["work", "work.log"] {
            for number in 0..20 {
                let name = format!("{}{kind}-{number}", Agent::this());
                symlink(precious.path().join("planted"), place.path().join(name)).unwrap();
            }
        }
        let error = Scratch::create(None, place.path(), "work").unwrap_err();
        assert!(format!("{error:#}").contains("cannot create the scratch directory"), "{error:#}");
        assert!(precious.is_there() && !precious.path().join("planted").exists());
        let bench = Bench::new();
        symlink(precious.path().join("important"), bench.scratch.stdout(Speaker::Command)).unwrap();
        let argv = ["true".to_owned()];
        let containment = contained();
        let error =
            machine::command::run(&argv, &bench.around(5.0), &containment, |_| ()).unwrap_err();
        assert!(error.to_string().contains("cannot keep output"), "{error:#}");
        assert!(precious.is_there());
    });
}

#[test]
fn output_without_end_takes_no_more_than_its_room() {
    alone("output_without_end_takes_no_more_than_its_room", || {
        let (bench, containment) = (Bench::new(), contained());
        assert!(!bench.scratch.is_full());
        let (outcome, _) = bench.run("yes 0123456789 | head -c 10G", 60.0, &containment);
        assert_ne!(outcome.ending, Ending::TimedOut);
        assert!(bench.scratch.is_full());
        assert!(fs::metadata(bench.scratch.stdout(Speaker::Command)).unwrap().len() <= 64 << 20);
        assert_eq!(tail(&bench.scratch.stdout(Speaker::Command)).len(), 64 << 10);
    });
}

#[test]
fn a_full_disk_is_reported_in_a_sentence() {
    alone("a_full_disk_is_reported_in_a_sentence", || {
        let place = tempfile::tempdir().unwrap();
        let flags = MsFlags::empty();
        mount(Some("full"), place.path(), Some("tmpfs"), flags, Some("size=4k,nr_inodes=1"))
            .unwrap();
        let error = Scratch::create(None, place.path(), "work").unwrap_err();
        assert!(
            format!("{error:#}").ends_with("No space left on device (os error 28)"),
            "{error:#}"
        );
    });
}

/// A process that waits for a frozen file system cannot be killed before the file system thaws.
#[test]
fn a_command_that_cannot_be_killed_is_reported_and_not_waited_for() {
    alone("a_command_that_cannot_be_killed_is_reported_and_not_waited_for", || {
        let image = tempfile::NamedTempFile::new().unwrap();
        let place = tempfile::tempdir().unwrap();
        let sh = |script: &str| {
            let script =
                format!("i={}; p={}; {script}", image.path().display(), place.path().display());
            Command::new("sh").args(["-c", &script]).status().unwrap().success()
        };
        if !sh("truncate -s 16M $i && mkfs.ext4 -q $i && mount -o loop $i $p && fsfreeze -f $p") {
            eprintln!("no file system can be frozen here, so that this was not tried");
            return;
        }
        let (bench, containment) = (Bench::new(), contained());
        let (outcome, took) =
            bench.run(&format!("exec touch {}/x", place.path().display()), 0.3, &containment);
        let thawed = sh("fsfreeze -u $p");
        let Ending::Unkillable(state) = &outcome.ending else { panic!("{:?}", outcome.ending) };
        assert!(state.starts_with("state D"), "{state}");
        assert!(thawed && took < SOON, "{took:?}");
        containment.end().unwrap();
        assert!(sh("umount $p"));
    });
}
