// SPDX-License-Identifier: GPL-2.0-only
//! The constants of an object that does not describe itself, as parameters of it.

use ::parameters::{Allowed, Owned, Value};
use bpf::globals::Global;

use crate::parameters::Parameter;

/// The parameter that `global` is: any value of its type may be set. None for variables, arrays, and
/// names that begin as the loader's own do.
pub fn describe(global: &Global, section: &[u8]) -> Option<Parameter> {
    let is_constant = global.tags.is_empty() && !global.writable() && global.count == 1;
    if !is_constant || global.name.starts_with("__") {
        return None;
    }
    let bits = u32::try_from(8 * global.width).ok()?;
    let (min, max) = match (global.boolean, global.signed) {
        (true, _) => (0, 1),
        (false, true) => (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits)),
        (false, false) => (0, i64::MAX >> (63 - bits.min(63))),
    };
    let default = Value::Number(global.get(section)?);
    let allowed = Allowed::Range { unit: "1".into(), min, max };
    let sentence = "A constant that the object does not describe.".into();
    let about = Owned { name: global.name.clone(), allowed, default, sentence, variants: &[] };
    Some(Parameter { about, runtime: false, place: global.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_without_a_tag_takes_any_value_of_its_type() {
        let bare = |width, signed, boolean| Global {
            width,
            signed,
            boolean,
            section: ".rodata".into(),
            offset: 0,
            tags: Vec::new(),
            name: "limit".into(),
            count: 1,
        };
        let range = |global: &Global| {
            let found = describe(global, &[1, 0, 0, 0, 0, 0, 0, 0])?;
            assert_eq!(found.about.default, Value::Number(1));
            assert!(!found.runtime);
            let Allowed::Range { min, max, .. } = found.about.allowed else { return None };
            Some((min, max))
        };
        assert_eq!(range(&bare(1, false, true)), Some((0, 1)));
        assert_eq!(range(&bare(1, false, false)), Some((0, 255)));
        assert_eq!(range(&bare(2, true, false)), Some((-32768, 32767)));
        assert_eq!(range(&bare(4, false, false)), Some((0, 0xffff_ffff)));
        assert_eq!(range(&bare(8, false, false)), Some((0, i64::MAX)));
        assert_eq!(range(&bare(8, true, false)), Some((i64::MIN, i64::MAX)));
        let plain = bare(4, false, false);
        for other in [
            Global { section: ".data".into(), ..plain.clone() },
            Global { count: 2, ..plain.clone() },
            Global { name: "__SCX_ENQ_LAST".into(), ..plain.clone() },
            Global { tags: vec!["machine | cpus".into()], ..plain.clone() },
            Global { offset: 6, ..plain },
        ] {
            assert_eq!(range(&other), None, "{other:?}");
        }
    }
}
