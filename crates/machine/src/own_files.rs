// SPDX-License-Identifier: GPL-2.0-only
//! Files of the user's in a scratch directory, each the one of its digest.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path};

use anyhow::{Context, Result, ensure};
use protocol::OwnFile;
use sha2::{Digest, Sha256};

/// Copies `files` into `directory`, which nobody else has written in.
///
/// # Errors
/// One cannot be copied, is not the one of its digest, or is there already.
pub fn copy_into(directory: &Path, files: &[OwnFile]) -> Result<()> {
    files.iter().try_for_each(|file| {
        ensure!(stays_below(&file.name), "the name {:?} of a file leads elsewhere", file.name);
        let to = directory.join(&file.name);
        let found = copy(file, directory, &to)
            .with_context(|| format!("cannot bring the file {}", file.name))?;
        ensure!(found == file.sha256, "the file {} was changed: its sha256 is {found}", file.name);
        Ok(())
    })
}

fn stays_below(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    !name.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Returns the digest of what was written.
fn copy(file: &OwnFile, directory: &Path, to: &Path) -> io::Result<String> {
    let folder = to.parent().unwrap_or(directory);
    DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
    let mode = if file.is_executable { 0o755 } else { 0o644 };
    let mut from = File::open(&file.path)?;
    let mut to = File::options().write(true).create_new(true).mode(mode).open(to)?;
    let mut digest = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        let length = from.read(&mut piece)?;
        if length == 0 {
            return Ok(format!("{:x}", digest.finalize()));
        }
        digest.update(&piece[..length]);
        to.write_all(&piece[..length])?;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    use super::*;

    fn file(name: &str, path: PathBuf, content: &str) -> OwnFile {
        let sha256 = format!("{:x}", Sha256::digest(content));
        OwnFile { name: name.into(), path, sha256, is_executable: false }
    }

    #[test]
    fn a_file_comes_with_its_folder_and_its_rights() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let original = here.path().join("original");
        fs::write(&original, "#!/bin/sh\n").unwrap();
        let plain = file("plain", original.clone(), "#!/bin/sh\n");
        let program =
            OwnFile { is_executable: true, ..file("a/b/program", original, "#!/bin/sh\n") };
        copy_into(there.path(), &[plain, program]).unwrap();
        let mode = |name: &str| {
            fs::metadata(there.path().join(name)).unwrap().permissions().mode() & 0o777
        };
        assert_eq!([mode("plain") & 0o111, mode("a/b/program") & 0o111], [0, 0o111]);
        assert_eq!(fs::read_to_string(there.path().join("a/b/program")).unwrap(), "#!/bin/sh\n");
    }

    #[test]
    fn another_content_is_refused() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let original = here.path().join("original");
        fs::write(&original, "changed").unwrap();
        let error = copy_into(there.path(), &[file("w", original, "as it was")]).unwrap_err();
        assert!(error.to_string().starts_with("the file w was changed"), "{error}");
    }

    #[test]
    fn nothing_is_written_elsewhere_or_over_what_is_there() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let original = here.path().join("original");
        fs::write(&original, "x").unwrap();
        symlink(&original, there.path().join("link")).unwrap();
        for name in ["", "..", "../w", "/w", "a/../../w", "link"] {
            let asked = file(name, original.clone(), "x");
            assert!(copy_into(there.path(), &[asked]).is_err(), "{name}");
        }
        assert_eq!(fs::read_dir(here.path()).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(&original).unwrap(), "x");
    }
}
