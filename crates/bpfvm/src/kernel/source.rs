// SPDX-License-Identifier: GPL-2.0-only
//! What is described here, and by which files; `tools/kernels` makes them from real kernels.

use std::io::Read;
use std::sync::LazyLock;

use super::names::Names;
use super::options::Options;

/// Where the description of a kernel comes from.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    pub name: &'static str,
    /// The release whose types these are.
    pub release: &'static str,
    /// The functions that the kernel does not have yet, if it is described by a newer one: by hand, after its published
    /// source. Everything else is the newer one's.
    pub without: Option<&'static [&'static str]>,
    types: &'static [u8],
    /// The bit that stands for it with each name.
    pub(super) number: usize,
}

macro_rules! types {
    ($name:literal) => {
        include_bytes!(concat!("../../kernels/", $name, ".btf.zst"))
    };
}

macro_rules! source {
    ($number:literal, $name:literal, $release:literal) => {
        Source {
            name: $name,
            release: $release,
            without: None,
            types: types!($name),
            number: $number,
        }
    };
}

/// The oldest first.
pub const KERNELS: [Source; 7] = [
    Source {
        name: "6.12",
        release: "6.12.0",
        without: Some(&[
            "scx_bpf_dsq_insert",
            "scx_bpf_dsq_insert_vtime",
            "scx_bpf_dsq_move",
            "scx_bpf_dsq_move_set_slice",
            "scx_bpf_dsq_move_set_vtime",
            "scx_bpf_dsq_move_to_local",
            "scx_bpf_dsq_move_vtime",
            "scx_bpf_now",
        ]),
        types: types!("6.14"),
        number: 0,
    },
    source!(0, "6.14", "6.14.0-15-generic"),
    source!(1, "6.16", "6.16.12+deb13-cloud-amd64"),
    source!(2, "6.18", "6.18.15+deb13-cloud-amd64"),
    source!(3, "7.0", "7.0.0-14-generic"),
    source!(4, "7.2", "7.2.12+deb13-cloud-amd64"),
    source!(5, "7.3", "7.3.4+deb13-cloud-amd64"),
];

impl Source {
    /// The types as the section `.BTF` has them.
    pub fn unpack(&self) -> Vec<u8> {
        unpack(self.types)
    }
}

static NAMES: LazyLock<Names> =
    LazyLock::new(|| Names::parse(&text(include_bytes!("../../kernels/names.txt.zst"))));

static OPTIONS: LazyLock<Options> =
    LazyLock::new(|| Options::parse(&text(include_bytes!("../../kernels/options.txt.zst"))));

/// The names of all that these kernels have.
pub fn names() -> &'static Names {
    &NAMES
}

/// What these kernels were built with.
pub fn options() -> &'static Options {
    &OPTIONS
}

fn text(packed: &[u8]) -> String {
    String::from_utf8(unpack(packed)).expect("names are ASCII")
}

fn unpack(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut decoder =
        ruzstd::decoding::StreamingDecoder::new(packed).expect("it was packed for this program");
    decoder.read_to_end(&mut bytes).expect("it was packed for this program");
    bytes
}
