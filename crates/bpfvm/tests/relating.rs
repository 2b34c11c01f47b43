// SPDX-License-Identifier: GPL-2.0-only
//! What an object asks of a kernel's types, with types made by hand.

use std::sync::Arc;

use bpfvm::relate::{Answer, AskedError, Types, ask};
use btf::{Btf, CoreKind, CoreRelocation, Enumerator, Kind, Member, Place, Type, TypeId};

const INT: TypeId = TypeId(1);
const LONG: TypeId = TypeId(2);
/// The first type after those that all have.
const FIRST: u32 = 3;

fn named(name: &str, kind: Kind) -> Type {
    Type { name: name.into(), kind }
}

fn types(more: Vec<Type>) -> Btf {
    let int =
        |size, bits| Kind::Int { size, bits, is_signed: true, is_char: false, is_bool: false };
    let first = vec![named("int", int(4, 32)), named("long", int(8, 64))];
    Btf::from_types([first, more].concat())
}

fn member(name: &str, of: TypeId, offset_bits: u32) -> Member {
    Member { name: name.into(), of, offset_bits, width_bits: None }
}

fn structure(name: &str, size: u32, members: Vec<Member>) -> Type {
    named(name, Kind::Struct { size, members })
}

fn question(of: u32, access: &str, kind: CoreKind) -> CoreRelocation {
    let place = Place { section: String::new(), offset: 0 };
    CoreRelocation { place, of: TypeId(of), access: access.into(), kind }
}

#[track_caller]
fn answer(local: &Btf, kernel: &[Type], access: &str, kind: CoreKind) -> (String, Answer) {
    let kernel = Types::new(types(kernel.to_vec()));
    let reply = ask(local, &question(FIRST, access, kind), &kernel).unwrap();
    (reply.what, reply.answer)
}

/// struct task___mine { int pid; struct { long time; }; int names[4]; };
fn local() -> Btf {
    types(vec![
        structure(
            "task___mine",
            40,
            vec![
                member("pid", INT, 0),
                member("", TypeId(FIRST + 1), 64),
                member("names", TypeId(FIRST + 2), 128),
            ],
        ),
        structure("", 8, vec![member("time", LONG, 0)]),
        named("", Kind::Array { element: INT, count: 4 }),
    ])
}

#[test]
fn fields_are_found_by_name_wherever_they_are() {
    // struct task { union { struct { int pad[2]; int names[8]; long time; }; }; int pid; };
    let kernel = [
        structure("task", 64, vec![member("", TypeId(FIRST + 1), 64), member("pid", INT, 448)]),
        named("", Kind::Union { size: 48, members: vec![member("", TypeId(FIRST + 2), 0)] }),
        structure("", 48, vec![member("names", TypeId(FIRST + 3), 64), member("time", LONG, 320)]),
        named("", Kind::Array { element: INT, count: 8 }),
    ];
    let at = |access| answer(&local(), &kernel, access, CoreKind::FieldOffset);
    assert_eq!(at("0:0"), ("struct task___mine::pid".into(), Answer::Value(56)));
    assert_eq!(at("0:1:0"), ("struct task___mine::time".into(), Answer::Value(48)));
    assert_eq!(at("0:2:3"), ("struct task___mine::names[3]".into(), Answer::Value(8 + 8 + 12)));
    // The second of two such structs.
    assert_eq!(at("1:0").1, Answer::Value(64 + 56));
    assert_eq!(answer(&local(), &kernel, "0:0", CoreKind::FieldSize).1, Answer::Value(4));
    assert_eq!(answer(&local(), &kernel, "0", CoreKind::TypeSize).1, Answer::Value(64));
    assert_eq!(
        answer(&local(), &kernel, "0", CoreKind::TypeIdLocal).1,
        Answer::Value(FIRST.into())
    );
}

#[test]
fn what_is_not_there_is_missing_and_can_be_asked_for() {
    let without = [structure("task", 4, vec![member("pid", LONG, 0)])];
    let of = |access, kind| answer(&local(), &without, access, kind).1;
    assert_eq!(of("0:1:0", CoreKind::FieldOffset), Answer::Missing);
    assert_eq!(of("0:1:0", CoreKind::FieldExists), Answer::Value(0));
    assert_eq!(of("0:0", CoreKind::FieldExists), Answer::Value(1));
    // The size of a number is the kernel's.
    assert_eq!(of("0:0", CoreKind::FieldSize), Answer::Value(8));
    // A field that is something else is none.
    let other = [
        structure("task", 16, vec![member("pid", TypeId(FIRST + 1), 0)]),
        structure("pid", 16, vec![]),
    ];
    assert_eq!(answer(&local(), &other, "0:0", CoreKind::FieldExists).1, Answer::Value(0));
    // An array that is too short.
    let short = [
        structure("task", 8, vec![member("names", TypeId(FIRST + 1), 0)]),
        named("", Kind::Array { element: INT, count: 2 }),
    ];
    assert_eq!(answer(&local(), &short, "0:2:3", CoreKind::FieldOffset).1, Answer::Missing);
    assert_eq!(answer(&local(), &short, "0:2:1", CoreKind::FieldOffset).1, Answer::Value(4));
    let nothing = [structure("other", 8, vec![])];
    assert_eq!(answer(&local(), &nothing, "0", CoreKind::TypeExists).1, Answer::Value(0));
    assert_eq!(answer(&local(), &nothing, "0", CoreKind::TypeSize).1, Answer::Missing);
    // A union is another kind.
    let union = [named("task", Kind::Union { size: 8, members: vec![] })];
    assert_eq!(answer(&local(), &union, "0", CoreKind::TypeExists).1, Answer::Value(0));
}

#[test]
fn nothing_is_said_of_members_that_were_left_out() {
    let cut = |on| named("cut", Kind::DeclarationTag { on: TypeId(on), component: None });
    let kernel = [structure("task", 40, vec![]), cut(FIRST)];
    assert_eq!(answer(&local(), &kernel, "0:0", CoreKind::FieldExists).1, Answer::Unknown);
    assert_eq!(answer(&local(), &kernel, "0", CoreKind::TypeSize).1, Answer::Value(40));
    let kernel = [structure("task", 40, vec![])];
    assert_eq!(answer(&local(), &kernel, "0:0", CoreKind::FieldExists).1, Answer::Value(0));
}

#[test]
fn bits_of_a_number_are_read_as_the_whole_number() {
    let bits = |offset_bits, width| Member {
        name: "flag".into(),
        of: INT,
        offset_bits,
        width_bits: Some(width),
    };
    let local = types(vec![structure("task", 4, vec![bits(0, 1)])]);
    let kernel = [structure("task", 16, vec![bits(37, 3)])];
    let of = |kind| answer(&local, &kernel, "0:0", kind).1;
    assert_eq!(of(CoreKind::FieldOffset), Answer::Value(4));
    assert_eq!(of(CoreKind::FieldSize), Answer::Value(4));
    assert_eq!(of(CoreKind::FieldShiftLeft), Answer::Value(64 - 8));
    assert_eq!(of(CoreKind::FieldShiftRight), Answer::Value(64 - 3));
    assert_eq!(of(CoreKind::FieldSigned), Answer::Value(1));
    // Bits that no number of four bytes holds.
    let across = [structure("task", 16, vec![bits(30, 5)])];
    let of = |kind| answer(&local, &across, "0:0", kind).1;
    assert_eq!([of(CoreKind::FieldOffset), of(CoreKind::FieldSize)], [0, 8].map(Answer::Value));
}

#[test]
fn values_of_enums_are_found_by_name() {
    let values = |list: &[(&str, u64)]| {
        let values = list.iter().map(|&(name, value)| Enumerator { name: Arc::from(name), value });
        Kind::Enum { size: 4, is_signed: false, values: values.collect() }
    };
    let local = types(vec![named("flags", values(&[("A", 1), ("B___old", 2), ("C", 3)]))]);
    let kernel = [named("flags", values(&[("B", 7), ("A", 9)]))];
    let of = |access, kind| answer(&local, &kernel, access, kind);
    assert_eq!(of("0", CoreKind::EnumeratorValue), ("enum flags::A".into(), Answer::Value(9)));
    assert_eq!(of("1", CoreKind::EnumeratorValue).1, Answer::Value(7));
    assert_eq!(of("2", CoreKind::EnumeratorValue).1, Answer::Missing);
    assert_eq!(of("2", CoreKind::EnumeratorExists).1, Answer::Value(0));
    assert_eq!(of("1", CoreKind::EnumeratorExists).1, Answer::Value(1));
}

#[test]
fn questions_without_a_sense_are_named() {
    let kernel = Types::new(types(vec![structure("task", 4, vec![])]));
    for access in ["", "x", "0:9", "0:0:0", "0:2:4", "99999999999", "0:-1"] {
        let error = ask(&local(), &question(FIRST, access, CoreKind::FieldOffset), &kernel);
        let Err(AskedError::Nowhere { root, .. }) = error else { panic!("{access}: {error:?}") };
        assert_eq!(root, "struct task___mine");
    }
    let two = [
        structure("task", 8, vec![member("pid", INT, 0)]),
        structure("task", 8, vec![member("pid", INT, 32)]),
    ];
    let kernel = Types::new(types(two.to_vec()));
    let error = ask(&local(), &question(FIRST, "0:0", CoreKind::FieldOffset), &kernel).unwrap_err();
    assert_eq!(error.to_string(), "the kernel has several struct task___mine::pid, which differ");
    // They agree on this.
    let exists = ask(&local(), &question(FIRST, "0:0", CoreKind::FieldExists), &kernel).unwrap();
    assert_eq!(exists.answer, Answer::Value(1));
}
