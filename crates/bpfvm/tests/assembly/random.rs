// SPDX-License-Identifier: GPL-2.0-only
//! Programs of drawn instructions. The same seed gives the same program.

use bpfvm::instruction::Instruction;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::{
    atomic, call, compute, compute_with, exit, helper, instruction, load, load_signed, may_goto,
    set, store, store_value, wide,
};

/// How far a drawn program may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Everything: wild addresses, loops without an end, the null page.
    Anything,
    /// Only what has one meaning on every kernel, and what its verifier takes: registers that have a value, the stack,
    /// jumps forward.
    Tame,
}

pub struct Draw {
    numbers: Xoshiro256PlusPlus,
    reach: Reach,
}

/// Values at which instructions change what they do.
const EDGES: [i32; 12] = [0, 1, -1, 2, 7, 31, 32, 63, 64, i32::MAX, i32::MIN, 0x8000];
const SIZES: [u8; 4] = [1, 2, 4, 8];
const CHANGES: [i32; 10] = [0x00, 0x01, 0x40, 0x41, 0x50, 0x51, 0xa0, 0xa1, 0xe1, 0xf1];

/// Makes one value of all registers and of the part of the stack, and returns it.
fn fold() -> Vec<Instruction> {
    let mix = |register| [compute(MULTIPLY, 0, 31), compute_with(XOR, 0, register)];
    let registers = (1..=9).flat_map(mix);
    let places = (1..=8).flat_map(|place| {
        let load = load(8, 1, 10, -8 * place);
        [vec![load], mix(1).to_vec()].concat()
    });
    registers.chain(places).chain([exit()]).collect()
}

const MULTIPLY: u8 = 0x20;
const XOR: u8 = 0xa0;

impl Draw {
    pub fn new(seed: u64, reach: Reach) -> Self {
        Self { numbers: Xoshiro256PlusPlus::seed_from_u64(seed), reach }
    }

    fn below(&mut self, end: u64) -> u64 {
        self.numbers.next_u64() % end
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[usize::try_from(self.below(list.len() as u64)).unwrap()]
    }

    fn register(&mut self) -> u8 {
        u8::try_from(self.below(10)).unwrap()
    }

    fn immediate(&mut self) -> i32 {
        match self.below(3) {
            0 => self.of(&EDGES),
            1 => i32::try_from(self.below(200)).unwrap() - 100,
            _ => i32::from_le_bytes(self.numbers.next_u32().to_le_bytes()),
        }
    }

    /// A whole program: `main`, and a function that it may call; a tame one has it only if it is called.
    pub fn program(&mut self, length: usize) -> Vec<(&'static str, Vec<Instruction>)> {
        let mut main = self.begin();
        let mut other = [self.begin(), self.steps(length / 2), fold()].concat();
        self.avoid_halves(&mut other);
        while main.len() < length {
            main.extend(self.step(length - main.len()));
            if self.below(30) == 0 {
                // The distance is known when the length is.
                main.push(call(0));
                main.extend((1..=5).map(|register| set(register, self.immediate())));
            }
        }
        main.extend(fold());
        self.avoid_halves(&mut main);
        let end = main.len();
        // A verifier refuses a function that nothing calls.
        if self.reach == Reach::Tame && !main.iter().any(|each| each.code == 0x85) {
            return vec![("main", main)];
        }
        for (at, each) in main.iter_mut().enumerate() {
            if each.code == 0x85 && each.source == 1 {
                each.immediate = i32::try_from(end - at - 1).unwrap();
            }
        }
        vec![("main", main), ("other", other)]
    }

    /// Makes jumps that lead to the second half of an instruction lead behind it, if only what has a meaning is drawn.
    fn avoid_halves(&self, steps: &mut [Instruction]) {
        let halves: Vec<bool> = steps.iter().map(|each| each.code == 0).collect();
        for (at, each) in steps.iter_mut().enumerate() {
            let is_jump =
                matches!(each.code & 0x07, 0x05 | 0x06) && ![0x85, 0x95].contains(&each.code);
            let to = (at + 1).checked_add_signed(each.offset.into());
            let is_half = to.and_then(|to| halves.get(to)).is_some_and(|&is_half| is_half);
            if self.reach == Reach::Tame && is_jump && is_half {
                each.offset += 1;
            }
        }
    }

    /// Gives every register and a part of the stack a value.
    fn begin(&mut self) -> Vec<Instruction> {
        let mut steps = Vec::new();
        for register in [0, 6, 7, 8, 9] {
            steps.extend(wide(register, self.numbers.next_u64()));
        }
        for place in 1..=8 {
            let value = self.immediate();
            steps.push(store_value(8, 10, -8 * place, value));
        }
        steps
    }

    fn steps(&mut self, count: usize) -> Vec<Instruction> {
        let mut steps = Vec::new();
        while steps.len() < count {
            let left = count - steps.len();
            steps.extend(self.step(left));
        }
        steps
    }

    /// One instruction, or the two halves of one; `left` are still to come.
    fn step(&mut self, left: usize) -> Vec<Instruction> {
        let wild = self.reach == Reach::Anything;
        vec![match self.below(if wild { 22 } else { 20 }) {
            0..=8 => self.compute(),
            9 => return wide(self.register(), self.numbers.next_u64()).to_vec(),
            10 | 11 => {
                let bytes = self.of(&SIZES);
                load(bytes, self.register(), 10, self.place(bytes))
            }
            12 => {
                let bytes = self.of(&SIZES[..3]);
                load_signed(bytes, self.register(), 10, self.place(bytes))
            }
            13 | 14 => {
                let bytes = self.of(&SIZES);
                store(bytes, 10, self.place(bytes), self.register())
            }
            15 => {
                let bytes = self.of(&SIZES);
                store_value(bytes, 10, self.place(bytes), self.immediate())
            }
            16 => {
                let bytes = self.of(&SIZES[2..]);
                atomic(bytes, self.of(&CHANGES), 10, self.place(bytes), self.register())
            }
            17..=19 => self.jump(left),
            20 => self.wild_access(),
            _ => match self.below(4) {
                0 => helper(1),
                1 => may_goto(i16::try_from(self.below(3)).unwrap()),
                2 => instruction(0x05, 0, 0, -i16::try_from(self.below(9)).unwrap(), 0),
                _ => instruction(0xbf, self.register(), self.register(), 1, 1),
            },
        }]
    }

    /// A place on the part of the stack that has values.
    fn place(&mut self, bytes: u8) -> i16 {
        let bytes = u64::from(bytes);
        let at = self.below(64 / bytes) * bytes;
        i16::try_from(at).unwrap() - 64
    }

    fn wild_access(&mut self) -> Instruction {
        let (bytes, register, base) = (self.of(&SIZES), self.register(), self.register());
        let offset = i16::try_from(self.below(64)).unwrap() - 32;
        match self.below(3) {
            0 => load(bytes, register, base, offset),
            1 => store(bytes, base, offset, register),
            _ => atomic(self.of(&SIZES[2..]), self.of(&CHANGES), base, offset, register),
        }
    }

    fn compute(&mut self) -> Instruction {
        let class = self.of(&[0x04, 0x07]);
        let operation = self.of(&[
            0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90, 0xa0, 0xb0, 0xc0, 0xd0,
        ]);
        let (to, from) = (self.register(), self.register());
        let is_register = self.below(2) == 0;
        match operation {
            0x80 => instruction(0x80 | class, to, 0, 0, 0),
            0xd0 => {
                let bits = self.of(&[16, 32, 64]);
                let turns = if class == 0x04 && is_register { 0x08 } else { 0 };
                instruction(0xd0 | class | turns, to, 0, 0, bits)
            }
            0xb0 if is_register => {
                let extended: &[i16] = if class == 0x04 { &[0, 8, 16] } else { &[0, 8, 16, 32] };
                instruction(0xb8 | class, to, from, self.of(extended), 0)
            }
            _ => {
                let is_signed = matches!(operation, 0x30 | 0x90) && self.below(2) == 0;
                let offset = i16::from(is_signed);
                if is_register {
                    instruction(operation | 0x08 | class, to, from, offset, 0)
                } else {
                    instruction(operation | class, to, 0, offset, self.constant(operation, class))
                }
            }
        }
    }

    /// An immediate that the kernel takes: none divides by 0, or shifts by more bits than there are.
    fn constant(&mut self, operation: u8, class: u8) -> i32 {
        let value = self.immediate();
        let bits = if class == 0x04 { 32 } else { 64 };
        match (operation, self.reach) {
            (0x30 | 0x90, Reach::Tame) if value == 0 => 1,
            (0x60 | 0x70 | 0xc0, Reach::Tame) => value.rem_euclid(bits),
            _ => value,
        }
    }

    fn jump(&mut self, left: usize) -> Instruction {
        let class = self.of(&[0x05, 0x06]);
        let comparison =
            self.of(&[0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0xa0, 0xb0, 0xc0, 0xd0]);
        let longest = u64::try_from(left.clamp(2, 12)).unwrap() - 1;
        let distance = i16::try_from(self.below(longest)).unwrap();
        let (left, right) = (self.register(), self.register());
        match self.below(2) {
            0 => instruction(comparison | class, left, 0, distance, self.immediate()),
            _ => instruction(comparison | 0x08 | class, left, right, distance, 0),
        }
    }
}
