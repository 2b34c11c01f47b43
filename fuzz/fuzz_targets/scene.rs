// SPDX-License-Identifier: GPL-2.0-only
//! Any text as a scene: it is one whose parts fit together, or a mistake in one of its lines.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use scene::{Scene, metrics};

fuzz_target!(|text: &str| {
    match text.parse::<Scene>() {
        Ok(scene) => {
            assert!(scene.cast().next().is_some(), "nobody begins");
            let named: Vec<_> = metrics(&scene).into_iter().map(|metric| metric.name).collect();
            assert_eq!(named.iter().collect::<BTreeSet<_>>().len(), named.len(), "two of a name");
        }
        Err(mistake) => assert!((1..=text.lines().count().max(1)).contains(&mistake.line)),
    }
});
