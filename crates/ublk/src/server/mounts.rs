// SPDX-License-Identifier: GPL-2.0-only
//! The mounts of a server: only those that it needs, so that others can be unmounted.

use std::io;
use std::path::{Path, PathBuf};

use machine::mounts::unescaped;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use procfs::FromRead;
use procfs::process::MountInfos;

/// Leaves this thread, and those that it starts, only `/` and the mounts of the kernel and of
/// runoff below it. Open files stay open. The working directory becomes `/`.
pub fn leave() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    let flags = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, flags, None::<&str>)?;
    std::env::set_current_dir("/")?;
    // A mount comes after the one that it is mounted on.
    for place in mounted_on()?.iter().rev().filter(|place| !is_needed(place)) {
        // A mount that went with another is not there any more.
        let _ = umount2(place, MntFlags::MNT_DETACH | MntFlags::UMOUNT_NOFOLLOW);
    }
    Ok(())
}

/// The places of this thread's mounts, in order.
fn mounted_on() -> io::Result<Vec<PathBuf>> {
    let found = MountInfos::from_file("/proc/thread-self/mountinfo").map_err(io::Error::other)?;
    Ok(found.0.into_iter().map(|each| unescaped(&each.mount_point)).collect())
}

fn is_needed(place: &Path) -> bool {
    let of_the_kernel = ["/dev", "/proc", "/sys"].iter().any(|kept| place.starts_with(kept));
    of_the_kernel || place == "/" || place == "/run"
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn mounts_of_the_kernel_are_needed_and_those_of_users_are_not() {
        let needed = |place: &str| is_needed(Path::new(place));
        assert!(["/", "/run", "/dev/shm", "/sys/fs/bpf", "/proc"].into_iter().all(needed));
        assert!(!["/mnt", "/run/media/usb", "/tmp", "/device"].into_iter().any(needed));
    }

    #[test]
    fn mounts_of_others_are_there_and_can_be_unmounted() {
        let place = tempfile::tempdir().unwrap();
        let try_out = || {
            if unshare(CloneFlags::CLONE_NEWNS).is_err() {
                eprintln!("not tried: it takes root");
                return;
            }
            let flags = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
            mount(None::<&str>, "/", None::<&str>, flags, None::<&str>).unwrap();
            mount(Some("none"), place.path(), Some("tmpfs"), MsFlags::empty(), None::<&str>)
                .unwrap();
            let left = thread::scope(|scope| {
                let server = scope.spawn(|| leave().and_then(|()| mounted_on()));
                server.join().unwrap().unwrap()
            });
            assert!(left.iter().all(|place| is_needed(place)), "{left:?}");
            assert!(left.contains(&"/".into()) && left.contains(&"/proc".into()), "{left:?}");
            assert!(mounted_on().unwrap().contains(&place.path().to_owned()));
            umount2(place.path(), MntFlags::empty()).unwrap();
        };
        thread::scope(|scope| drop(scope.spawn(try_out)));
    }
}
