// SPDX-License-Identifier: GPL-2.0-only
//! The directory that a sample's directories are made in: nobody but root can redirect what root
//! writes there.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::error::PlaceError;
use crate::booted::is_booted_for_us;

const WRITABLE_BY_OTHERS: u32 = 0o022;
/// The sticky bit of a directory: only its owner can change a name in it.
const STICKY: u32 = 0o1000;

/// Directories of the system: runoff makes nothing in them or below them.
const SYSTEM: [&str; 11] =
    ["bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "sbin", "sys", "usr"];

/// Resolves `place`, which is below `root` if there is one and may have links in it. Only root can
/// change the result.
///
/// # Errors
/// `place` is not a directory, is the system's, or is writable by other users, or a directory above
/// it is; or a link leads out of `root`.
pub fn resolve(root: Option<&Path>, place: &Path) -> Result<PathBuf, PlaceError> {
    let unusable = |error| PlaceError::Unusable { path: place.into(), error };
    let other = |words: String| unusable(io::Error::other(words));
    if !place.is_absolute() {
        return Err(other("it is not an absolute path".into()));
    }
    let resolved = place.canonicalize().map_err(unusable)?;
    let top = top(root).map_err(unusable)?;
    let Ok(inside) = resolved.strip_prefix(&top) else {
        return Err(other(format!("a link on the way leads out of {}", top.display())));
    };
    if SYSTEM.iter().any(|part| inside.starts_with(part)) {
        return Err(other("what the system consists of is there: name another directory".into()));
    }
    if !resolved.is_dir() {
        return Err(unusable(io::ErrorKind::NotADirectory.into()));
    }
    let abouts: io::Result<Vec<_>> =
        resolved.ancestors().map(|each| Ok((each, fs::symlink_metadata(each)?))).collect();
    let abouts = abouts.map_err(unusable)?;
    let shared = abouts.iter().find(|(_, about)| !is_only_roots(about));
    match shared.map(|(directory, _)| directory.into()) {
        Some(shared) => Err(PlaceError::Shared { path: resolved, shared }),
        None => Ok(resolved),
    }
}

fn top(root: Option<&Path>) -> io::Result<PathBuf> {
    root.unwrap_or(Path::new("/")).canonicalize()
}

/// Resolves `place` as `resolve` does, as a directory that work is done in.
///
/// # Errors
/// `place` cannot be resolved, or is the top of everything.
pub fn resolve_for_work(root: Option<&Path>, place: &Path) -> Result<PathBuf, PlaceError> {
    let resolved = resolve(root, place)?;
    let unusable = |error| PlaceError::Unusable { path: place.into(), error };
    if resolved == top(root).map_err(unusable)? {
        return Err(unusable(io::Error::other("all else is below it: name another directory")));
    }
    Ok(resolved)
}

/// A directory that something can be mounted on without hiding anything.
pub struct Free {
    pub path: PathBuf,
    /// Whether it was made and not there before.
    pub is_new: bool,
}

/// Resolves `place` as `resolve_for_work` does, and makes it if it is not there.
///
/// # Errors
/// No work may be done in `place`, or there is something in it.
pub fn make_free(root: Option<&Path>, place: &Path) -> Result<Free, PlaceError> {
    if let Some(path) = find_free(root, place)? {
        return Ok(Free { path, is_new: false });
    }
    let path = make(root, place)?;
    Ok(Free { path, is_new: true })
}

/// Resolves `place` as `resolve_for_work` does; None if it is not there.
///
/// # Errors
/// No work may be done in `place`, or there is something in it.
pub fn find_free(root: Option<&Path>, place: &Path) -> Result<Option<PathBuf>, PlaceError> {
    let Some(path) = none_if_absent(resolve_for_work(root, place))? else { return Ok(None) };
    let unusable = |error| PlaceError::Unusable { path: place.into(), error };
    if fs::read_dir(&path).map_err(unusable)?.next().is_some() {
        let words =
            "a disk would hide what is in it: name an empty directory, or one that is not there";
        return Err(unusable(io::Error::other(words)));
    }
    Ok(Some(path))
}

/// Turns the error for an absent place into None; other errors stay.
fn none_if_absent(found: Result<PathBuf, PlaceError>) -> Result<Option<PathBuf>, PlaceError> {
    match found {
        Err(PlaceError::Unusable { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
            Ok(None)
        }
        found => found.map(Some),
    }
}

fn make(root: Option<&Path>, place: &Path) -> Result<PathBuf, PlaceError> {
    if let Some(there) = none_if_absent(resolve(root, place))? {
        return Ok(there);
    }
    let unusable = |error| PlaceError::Unusable { path: place.into(), error };
    let (Some(parent), Some(name)) = (place.parent(), place.file_name()) else {
        return Err(unusable(io::ErrorKind::InvalidInput.into()));
    };
    let resolved = make(root, parent)?.join(name);
    // Fails on a link that leads nowhere.
    DirBuilder::new().mode(0o755).create(&resolved).map_err(unusable)?;
    Ok(resolved)
}

/// In a guest there are no other users, and its image may have been made from a user's own files.
fn is_only_roots(about: &Metadata) -> bool {
    is_booted_for_us() || is_safe(about.uid(), about.mode())
}

/// The mode tells of access control lists too: a right of theirs to write is in its bits for the group.
fn is_safe(owner: u32, mode: u32) -> bool {
    owner == 0 && (mode & WRITABLE_BY_OTHERS == 0 || mode & STICKY != 0)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    fn is_root() -> bool {
        nix::unistd::geteuid().is_root()
    }

    #[test]
    fn only_root_may_change_names_in_it() {
        assert!(is_safe(0, 0o755) && is_safe(0, 0o700) && is_safe(0, 0o1777));
        assert!(!is_safe(0, 0o777) && !is_safe(0, 0o775) && !is_safe(0, 0o757));
        assert!(!is_safe(1000, 0o700) && !is_safe(1000, 0o1777));
    }

    #[test]
    fn a_path_that_is_not_a_directory_is_refused() {
        let refusal = |place: &str| resolve(None, Path::new(place)).unwrap_err();
        for place in ["/no/such", "/proc/version", "/var/no", "tmp", ""] {
            assert!(refusal(place).to_string().starts_with("cannot work in "), "{place}");
            assert_eq!(refusal(place).exit_code(), 64);
        }
    }

    #[test]
    fn a_directory_that_others_can_change_is_refused_wherever_it_is_on_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let refusal = resolve(None, &inner).unwrap_err();
        assert_eq!(refusal.exit_code(), 64);
        let sentence = refusal.to_string();
        assert!(sentence.contains("writable by other users"), "{sentence}");
        assert!(sentence.contains(folder.path().to_str().unwrap()), "{sentence}");
        assert!(make(None, &inner.join("new")).is_err() && !inner.join("new").exists());
        if is_root() {
            fs::set_permissions(folder.path(), Permissions::from_mode(0o1777)).unwrap();
            assert_eq!(resolve(None, &inner).unwrap(), inner);
            chown(&inner, Some(1000), None).unwrap();
            assert!(matches!(resolve(None, &inner), Err(PlaceError::Shared { .. })));
        }
    }

    /// As `setfacl -m u:1000:rwx` does (with -d for `default`), as the kernel keeps it (acl(5)).
    fn give_list(directory: &Path, kind: &str) -> io::Result<()> {
        let (owner, user, group, mask, other) = (0x01_u16, 0x02, 0x04, 0x10, 0x20);
        let entries: [(u16, u16, u32); 5] = [
            (owner, 7, u32::MAX),
            (user, 7, 1000),
            (group, 5, u32::MAX),
            (mask, 7, u32::MAX),
            (other, 5, u32::MAX),
        ];
        let mut raw = 2_u32.to_le_bytes().to_vec();
        for (tag, permissions, id) in entries {
            raw.extend(tag.to_le_bytes());
            raw.extend(permissions.to_le_bytes());
            raw.extend(id.to_le_bytes());
        }
        let name = format!("system.posix_acl_{kind}");
        Ok(rustix::fs::setxattr(directory, name, &raw, rustix::fs::XattrFlags::empty())?)
    }

    #[test]
    fn a_list_that_lets_another_user_write_is_seen_in_the_mode() {
        let folder = tempfile::tempdir().unwrap();
        if !is_root() || give_list(folder.path(), "access").is_err() {
            eprintln!("not tried: not root, or no access control lists here");
            return;
        }
        assert!(matches!(resolve(None, folder.path()), Err(PlaceError::Shared { .. })));
    }

    #[test]
    fn a_list_for_what_is_made_lets_nobody_else_write_in_what_the_agent_makes() {
        let folder = tempfile::tempdir().unwrap();
        if !is_root() || give_list(folder.path(), "default").is_err() {
            eprintln!("not tried: not root, or no access control lists here");
            return;
        }
        let made = make(None, &folder.path().join("new")).unwrap();
        assert_eq!(fs::metadata(&made).unwrap().mode() & WRITABLE_BY_OTHERS, 0);
        assert_eq!(resolve(None, &made).unwrap(), made);
    }

    #[test]
    fn a_link_is_followed_once() {
        if !is_root() {
            eprintln!("not tried: only root has directories of root's");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::create_dir(&real).unwrap();
        symlink(&real, &link).unwrap();
        assert_eq!(resolve(None, &link).unwrap(), real);
        assert_eq!(make(None, &link.join("a/b")).unwrap(), real.join("a/b"));
        assert!(real.join("a/b").is_dir());
        symlink("/no/such", real.join("nowhere")).unwrap();
        assert!(make(None, &link.join("nowhere")).is_err());
    }

    #[test]
    fn directories_of_the_system_are_refused() {
        for place in ["/", "/etc", "/usr/share", "/boot", "/proc/self", "/sys/fs", "/dev/pts"] {
            let refusal = resolve_for_work(None, Path::new(place)).unwrap_err();
            assert!(refusal.to_string().starts_with(&format!("cannot work in {place}: ")));
            assert_eq!(refusal.exit_code(), 64);
        }
        if is_root() {
            let folder = tempfile::tempdir().unwrap();
            symlink("/etc", folder.path().join("link")).unwrap();
            assert!(resolve_for_work(None, &folder.path().join("link")).is_err());
        }
    }

    #[test]
    fn no_link_leads_out_of_a_root() {
        if !is_root() {
            eprintln!("not tried: only root has directories of root's");
            return;
        }
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = Some(folder.path());
        fs::create_dir_all(folder.path().join("var/tmp")).unwrap();
        fs::create_dir_all(folder.path().join("etc")).unwrap();
        symlink("var/tmp", folder.path().join("tmp")).unwrap();
        symlink(outside.path(), folder.path().join("away")).unwrap();
        let inside = |place: &str| folder.path().join(place);
        assert_eq!(resolve_for_work(root, &inside("tmp")).unwrap(), inside("var/tmp"));
        for place in ["away", "away/new"] {
            let refusal = make_free(root, &inside(place)).err().unwrap().to_string();
            assert!(refusal.contains("a link on the way leads out of"), "{refusal}");
        }
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        assert!(
            resolve_for_work(root, &inside("etc")).is_err()
                && resolve_for_work(root, &inside("")).is_err()
        );
    }

    #[test]
    fn a_disk_hides_nothing() {
        if !is_root() {
            eprintln!("not tried: only root has directories of root's");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        fs::create_dir_all(place("full/part")).unwrap();
        fs::create_dir(place("empty")).unwrap();
        let make = |name| make_free(None, &place(name));
        let refusal = make("full").err().unwrap().to_string();
        assert!(refusal.contains("a disk would hide what is in it"), "{refusal}");
        assert!(!make("empty").unwrap().is_new);
        assert!(make("new/er").unwrap().is_new && place("new/er").is_dir());
        assert!(find_free(None, &place("newest")).unwrap().is_none() && !place("newest").exists());
    }
}
