// SPDX-License-Identifier: GPL-2.0-only

use super::thing::Site;
use crate::instruction::BYTES;
use crate::object::Object;

impl Object {
    /// The function and the source line of an instruction.
    pub fn site(&self, code: usize, at: usize) -> Site {
        let code = &self.code[code];
        let function = code.functions.iter().rfind(|function| function.start <= at);
        let lines = self.extension.lines.iter().filter(|line| line.place.section == code.name);
        let line = lines.filter(|line| line.place.offset as usize / BYTES <= at);
        let line = line.max_by_key(|line| line.place.offset);
        Site {
            function: function.map_or_else(String::new, |function| function.name.clone()),
            line: line.map(|line| (line.file.clone(), line.line)),
        }
    }
}
