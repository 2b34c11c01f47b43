// SPDX-License-Identifier: GPL-2.0-only
//! The instructions of an object with a kernel's answers in them, as libbpf writes them there.

use std::collections::{BTreeSet, HashMap};

use btf::CoreKind;

use crate::instruction::{BYTES, Class, Instruction};
use crate::object::Object;
use crate::relate::{Access, Answer, Reply, Types, ask};

/// The instructions of an object as they are for a kernel.
#[derive(Debug)]
pub struct Fitted {
    /// A list for each section of code.
    pub code: Vec<Vec<Instruction>>,
    /// What was asked, in the order of the object.
    pub asked: Vec<Asked>,
    /// Questions that make no sense, in words.
    pub wrong: BTreeSet<String>,
}

/// A question that an instruction asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The section and the place in it.
    pub at: (usize, usize),
    pub kind: CoreKind,
    /// In words.
    pub what: String,
    pub answer: Answer,
}

/// Asks a kernel everything that the object wants to know of its types.
pub fn fit(object: &Object, kernel: &Types) -> Fitted {
    let sections: HashMap<&str, usize> =
        object.code.iter().zip(0..).map(|(code, number)| (&*code.name, number)).collect();
    let mut fitted = Fitted {
        code: object.code.iter().map(|code| code.instructions.clone()).collect(),
        asked: Vec::new(),
        wrong: BTreeSet::new(),
    };
    for question in &object.extension.relocations {
        let Some(&code) = sections.get(&*question.place.section) else { continue };
        let at = question.place.offset as usize / BYTES;
        let reply = match ask(&object.btf, question, kernel) {
            Ok(reply) => reply,
            Err(error) => {
                fitted.wrong.insert(error.to_string());
                continue;
            }
        };
        let mut answer = reply.answer;
        if let Answer::Value(value) = answer {
            match write(&mut fitted.code[code], at, value, &reply) {
                Ok(true) => {}
                // It must not be reached.
                Ok(false) => answer = Answer::Missing,
                Err(why) => {
                    fitted.wrong.insert(format!("{}: {why}", reply.what));
                }
            }
        }
        fitted.asked.push(Asked { at: (code, at), kind: question.kind, what: reply.what, answer });
    }
    fitted
}

/// Writes an answer into the instruction that asks for it. False if that cannot load or store the field as it is there.
fn write(code: &mut [Instruction], at: usize, value: u64, reply: &Reply) -> Result<bool, String> {
    let next = code.get(at + 1).copied();
    let instruction = code.get_mut(at).ok_or("it is asked for where no instruction is")?;
    let is_as_written = |found: u64| reply.written.is_none_or(|written| written == found);
    let differs = || "the instruction has another number than the object's types say".to_owned();
    match instruction.class() {
        Class::Arithmetic32 | Class::Arithmetic64 if !instruction.has_source() => {
            let found = i64::from(instruction.immediate).cast_unsigned();
            // A number of 32 bits stands there with or without a sign.
            if !is_as_written(found) && !is_as_written(found & u64::from(u32::MAX)) {
                return Err(differs());
            }
            let fits = u32::try_from(value).map(u32::cast_signed);
            let fits = fits.or_else(|_| i32::try_from(value.cast_signed()));
            instruction.immediate = fits.map_err(|_| format!("{value} does not fit in 32 bits"))?;
        }
        Class::LoadRegister | Class::StoreImmediate | Class::StoreRegister => {
            let found = i64::from(instruction.offset).cast_unsigned();
            if !is_as_written(found) {
                return Err(differs());
            }
            instruction.offset =
                i16::try_from(value).map_err(|_| format!("{value} does not fit in 16 bits"))?;
            return resize(instruction, reply.access);
        }
        Class::Load if instruction.is_wide() => {
            let next = next.ok_or("it is asked for where half an instruction is")?;
            let [low, high] =
                [*instruction, next].map(|each| u64::from(each.immediate.cast_unsigned()));
            if !is_as_written(high << 32 | low) {
                return Err(differs());
            }
            let halves = value.to_le_bytes();
            let [low, high] = [0, 4].map(|from| {
                i32::from_le_bytes(halves[from..from + 4].try_into().expect("these are four"))
            });
            instruction.immediate = low;
            code[at + 1].immediate = high;
        }
        _ => return Err("the instruction has no room for the answer".into()),
    }
    Ok(true)
}

/// Makes a load or a store as wide as the field is.
fn resize(instruction: &mut Instruction, access: Option<Access>) -> Result<bool, String> {
    let Some(Access { own, bytes, is_resizable }) = access else { return Ok(true) };
    if own == bytes {
        return Ok(true);
    }
    if !is_resizable {
        return Ok(false);
    }
    if u64::from(instruction.bytes()) != own {
        return Err(format!("an instruction loads {} bytes of its {own}", instruction.bytes()));
    }
    instruction.resize(bytes).ok_or_else(|| format!("no instruction loads {bytes} bytes"))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOVE: u8 = 0xb7;
    const LOAD_4: u8 = 0x61;
    const WIDE: u8 = 0x18;

    fn instruction(code: u8, offset: i16, immediate: i32) -> Instruction {
        Instruction { code, destination: 1, source: 2, offset, immediate }
    }

    fn reply(written: Option<u64>, access: Option<Access>) -> Reply {
        Reply { what: "struct task::pid".into(), answer: Answer::Missing, written, access }
    }

    #[test]
    fn answers_go_where_the_compiler_has_left_room() {
        let mut code = [instruction(MOVE, 0, 8)];
        assert_eq!(write(&mut code, 0, 24, &reply(Some(8), None)), Ok(true));
        assert_eq!(code[0].immediate, 24);
        assert_eq!(write(&mut code, 0, u64::MAX, &reply(None, None)), Ok(true));
        assert_eq!(code[0].immediate, -1);
        let mut code = [instruction(LOAD_4, 8, 0)];
        assert_eq!(write(&mut code, 0, 24, &reply(Some(8), None)), Ok(true));
        assert_eq!((code[0].offset, code[0].bytes()), (24, 4));
        let mut code = [instruction(WIDE, 0, 8), instruction(0, 0, 0)];
        assert_eq!(write(&mut code, 0, 7 << 32 | 9, &reply(Some(8), None)), Ok(true));
        assert_eq!((code[0].immediate, code[1].immediate), (9, 7));
    }

    #[test]
    fn what_cannot_be_written_is_refused_by_name() {
        let cases = [
            (vec![instruction(MOVE, 0, 9)], 24, "the instruction has another number"),
            (vec![instruction(LOAD_4, 9, 0)], 24, "the instruction has another number"),
            (
                vec![instruction(WIDE, 0, 8), instruction(0, 0, 1)],
                24,
                "the instruction has another",
            ),
            (vec![instruction(WIDE, 0, 8)], 24, "it is asked for where half"),
            (vec![instruction(LOAD_4, 8, 0)], 1 << 15, "32768 does not fit in 16 bits"),
            (vec![instruction(MOVE, 0, 8)], 1 << 32, "4294967296 does not fit in 32 bits"),
            // A move of a register, and the end of a function.
            (vec![instruction(0xbf, 0, 8)], 24, "the instruction has no room"),
            (vec![instruction(0x95, 0, 8)], 24, "the instruction has no room"),
            (vec![], 24, "it is asked for where no instruction is"),
        ];
        for (mut code, value, wanted) in cases {
            let before = code.clone();
            let error = write(&mut code, 0, value, &reply(Some(8), None)).unwrap_err();
            assert!(error.starts_with(wanted), "{error}");
            assert_eq!(code, before, "{wanted}");
        }
    }

    #[test]
    fn loads_become_as_wide_as_the_field_if_it_has_no_sign() {
        let access = |own, bytes, is_resizable| Some(Access { own, bytes, is_resizable });
        let write = |access| {
            let mut code = [instruction(LOAD_4, 8, 0)];
            write(&mut code, 0, 24, &reply(Some(8), access)).map(|fits| (fits, code[0].bytes()))
        };
        assert_eq!(write(access(4, 8, true)), Ok((true, 8)));
        assert_eq!(write(access(4, 2, true)), Ok((true, 2)));
        assert_eq!(write(access(4, 4, false)), Ok((true, 4)));
        assert_eq!(write(access(4, 8, false)), Ok((false, 4)));
        assert_eq!(write(access(8, 4, true)).unwrap_err(), "an instruction loads 4 bytes of its 8");
        assert_eq!(write(access(4, 3, true)).unwrap_err(), "no instruction loads 3 bytes");
    }
}
