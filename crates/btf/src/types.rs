// SPDX-License-Identifier: GPL-2.0-only
//! Types as they are described.

use std::sync::Arc;

/// All types of a kernel or an object. The first one, with number 0, is `void`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Btf {
    pub(crate) types: Vec<Type>,
    /// All names and texts, one after the other, as the bytes had them.
    pub(crate) names: Vec<u8>,
}

/// The number of a type; 0 is `void`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

impl TypeId {
    pub const VOID: Self = Self(0);
}

/// A type with its name, which is empty where it has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type {
    pub name: Arc<str>,
    pub kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Void,
    Int {
        size: u32,
        bits: u8,
        is_signed: bool,
        is_char: bool,
        is_bool: bool,
    },
    Pointer(TypeId),
    Array {
        element: TypeId,
        count: u32,
    },
    Struct {
        size: u32,
        members: Vec<Member>,
    },
    Union {
        size: u32,
        members: Vec<Member>,
    },
    Enum {
        size: u32,
        is_signed: bool,
        values: Vec<Enumerator>,
    },
    Forward {
        is_union: bool,
    },
    Typedef(TypeId),
    Volatile(TypeId),
    Const(TypeId),
    Restrict(TypeId),
    Function {
        prototype: TypeId,
        linkage: Linkage,
    },
    Prototype {
        returns: TypeId,
        parameters: Vec<Parameter>,
    },
    Variable {
        of: TypeId,
        linkage: Linkage,
    },
    /// A section of data with the variables in it.
    Section {
        size: u32,
        variables: Vec<Variable>,
    },
    Float {
        size: u32,
    },
    /// A word about a type, or about one of its members or parameters.
    DeclarationTag {
        on: TypeId,
        component: Option<u32>,
    },
    TypeTag(TypeId),
}

/// A member of a struct or union.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub name: Arc<str>,
    pub of: TypeId,
    /// From the beginning of the struct.
    pub offset_bits: u32,
    /// How many bits it has, if it is a bit-field.
    pub width_bits: Option<u8>,
}

/// A value of an enum; the bits of a negative one are its two's complement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumerator {
    pub name: Arc<str>,
    pub value: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub name: Arc<str>,
    pub of: TypeId,
}

/// A variable in a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    pub of: TypeId,
    pub offset: u32,
    pub size: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linkage {
    Static,
    Global,
    Extern,
}
