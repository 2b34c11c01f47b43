// SPDX-License-Identifier: GPL-2.0-only
//! Types by hand, those of the running kernel, and bytes that are anything.

use btf::{Btf, BtfError, Kind, TypeId};
use proptest::prelude::*;

/// The bytes of `.BTF` with these types and names.
fn section(types: &[u32], names: &[u8]) -> Vec<u8> {
    let length = u32::try_from(types.len() * 4).unwrap();
    let header = [24, 0, length, length, u32::try_from(names.len()).unwrap()];
    let mut bytes = vec![0x9f, 0xeb, 1, 0];
    bytes.extend(header.iter().chain(types).flat_map(|word| word.to_le_bytes()));
    bytes.extend(names);
    bytes
}

const fn info(kind: u32, count: u32, flag: bool) -> u32 {
    (flag as u32) << 31 | kind << 24 | count
}

/// int; struct pair { int a; unsigned bits: 3; }; int[4]; const; typedef; enum.
fn example() -> Vec<u8> {
    let names = b"\0int\0pair\0a\0bits\0four\0size_t\0color\0RED\0BLUE\0";
    let at = |name: &str| {
        let text = names.windows(name.len() + 2).position(|part| {
            part[0] == 0 && &part[1..=name.len()] == name.as_bytes() && part[name.len() + 1] == 0
        });
        u32::try_from(text.unwrap() + 1).unwrap()
    };
    #[rustfmt::skip]
    let types = [
        at("int"), info(1, 0, false), 4, 1 << 24 | 32,
        at("pair"), info(4, 2, true), 8, at("a"), 1, 0, at("bits"), 1, 3 << 24 | 32,
        0, info(3, 0, false), 0, 2, 1, 4,
        0, info(10, 0, false), 3,
        at("size_t"), info(8, 0, false), 4,
        at("color"), info(6, 2, true), 4, at("RED"), u32::MAX, at("BLUE"), 7,
        0, info(2, 0, false), 2,
        at("four"), info(17, 0, false), 2, 1,
    ];
    section(&types, names)
}

#[test]
fn types_are_read_with_all_that_they_say() {
    let btf = Btf::parse(&example()).unwrap();
    let (id, pair) = btf.named("pair").next().unwrap();
    let Kind::Struct { size: 8, members } = &pair.kind else { panic!("{pair:?}") };
    assert_eq!(
        (&*members[1].name, members[1].offset_bits, members[1].width_bits),
        ("bits", 32, Some(3))
    );
    assert_eq!(members[0].width_bits, None);
    let (size_t, _) = btf.named("size_t").next().unwrap();
    assert_eq!(btf.resolve(size_t), TypeId(3));
    assert_eq!(btf.size(size_t), Some(32));
    let (_, color) = btf.named("color").next().unwrap();
    let Kind::Enum { values, is_signed: true, .. } = &color.kind else { panic!("{color:?}") };
    assert_eq!((values[0].value, values[1].value), (u64::MAX, 7));
    assert_eq!(btf.size(TypeId(7)), Some(8));
    let (_, tag) = btf.named("four").next().unwrap();
    assert_eq!(tag.kind, Kind::DeclarationTag { on: id, component: Some(1) });
}

#[test]
fn what_is_wrong_is_named() {
    let wrong = |bytes: &[u8]| Btf::parse(bytes).unwrap_err();
    assert_eq!(wrong(&[]), BtfError::Missing);
    assert_eq!(wrong(&[0xeb, 0x9f, 1, 0]), BtfError::Foreign);
    assert_eq!(wrong(b"ELF."), BtfError::Header { what: "its magic number" });
    assert_eq!(
        wrong(&section(&[0, info(2, 0, false), 5], b"\0")),
        BtfError::Dangling { id: 1, what: "the type", number: 5 }
    );
    assert_eq!(
        wrong(&section(&[9, info(2, 0, false), 0], b"\0")),
        BtfError::Dangling { id: 1, what: "the name at", number: 9 }
    );
    assert_eq!(
        wrong(&section(&[0, info(30, 0, false), 0], b"\0")),
        BtfError::UnknownKind { id: 1, kind: 30 }
    );
    let whole = example();
    assert!(matches!(wrong(&whole[..whole.len() - 60]), BtfError::Short { .. }));
}

#[test]
fn circles_end() {
    let typedef =
        Btf::parse(&section(&[0, info(8, 0, false), 2, 0, info(10, 0, false), 1], b"\0")).unwrap();
    assert_eq!((typedef.resolve(TypeId(1)), typedef.size(TypeId(1))), (TypeId::VOID, None));
    let array = Btf::parse(&section(&[0, info(3, 0, false), 0, 1, 1, u32::MAX], b"\0")).unwrap();
    assert_eq!(array.size(TypeId(1)), None);
}

#[test]
fn the_running_kernel_is_read() {
    let Ok(bytes) = std::fs::read("/sys/kernel/btf/vmlinux") else { return };
    let btf = Btf::parse(&bytes).unwrap();
    let is_struct = |kind: &Kind| matches!(kind, Kind::Struct { .. });
    let (id, task) = btf.named("task_struct").find(|(_, each)| is_struct(&each.kind)).unwrap();
    let Kind::Struct { members, size } = &task.kind else { unreachable!() };
    let names: Vec<&str> = members.iter().map(|member| &*member.name).collect();
    assert!(["pid", "comm", "cpus_ptr"].iter().all(|name| names.contains(name)));
    assert_eq!(btf.size(id), Some(u64::from(*size)));
    // Each member lies in the struct, with all its bytes.
    for member in members.iter().filter(|member| member.width_bits.is_none()) {
        let end = u64::from(member.offset_bits / 8) + btf.size(member.of).unwrap_or(0);
        assert!(end <= u64::from(*size), "{}", member.name);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0_usize..200, to: u8) {
        let _ = Btf::parse(&bytes);
        let mut example = example();
        let at = at % example.len();
        example[at] = to;
        bytes.truncate(0);
        if let Ok(btf) = Btf::parse(&example) {
            for (id, _) in btf.iter() {
                let _ = (btf.size(id), btf.resolve(id));
            }
        }
    }
}

#[test]
fn what_is_written_is_read_as_the_same() {
    let btf = Btf::parse(&example()).unwrap();
    assert_eq!(Btf::parse(&btf.write()).unwrap().types(), btf.types());
    let Ok(bytes) = std::fs::read("/sys/kernel/btf/vmlinux") else { return };
    let kernel = Btf::parse(&bytes).unwrap();
    assert_eq!(Btf::parse(&kernel.write()).unwrap().types(), kernel.types());
}
