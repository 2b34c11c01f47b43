// SPDX-License-Identifier: GPL-2.0-only
//! Whether a kernel takes an object, as far as its types, functions and tables decide that. What only the verifier can
//! find out is not decided here.

mod answer;
mod constants;
mod judge;
mod outside;
mod site;
mod tables;
mod thing;
mod trial;

use crate::kernel::Kernel;
use crate::object::Object;
use crate::reach::{Known, follow};
pub(crate) use trial::Trial;

pub use answer::Loading;
pub use thing::{Site, Thing};

/// Tries an object on a kernel.
pub fn load(object: &Object, kernel: &Kernel) -> Loading {
    let mut trial = Trial::begin(object, kernel);
    let left_out = trial.check_tables();
    let entries = trial.entries(&left_out);
    let [compiled, any] = [true, false].map(|is_as_compiled| {
        let known = Known {
            code: &trial.fitted.code,
            unanswered: &trial.unanswered,
            is_there: &trial.is_there,
            memory: trial.memory(is_as_compiled),
        };
        let reached = follow(object, &known, &entries);
        trial.judge(&reached)
    });
    trial.conclude(compiled, any);
    trial.check_maps();
    trial.loading
}
