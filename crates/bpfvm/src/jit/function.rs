// SPDX-License-Identifier: GPL-2.0-only

use std::collections::BTreeMap;
use std::mem::offset_of;

use cranelift_codegen::Context;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{
    Block, FuncRef, Function, Inst, InstBuilder, MemFlagsData, SigRef, SourceLoc, Value,
};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};

use crate::decoded::{Operand, Plain};
use crate::instruction::{FRAME, REGISTERS};
use crate::program::{Program, Step};
use crate::shared::{STACK, Shared, site, stop};

/// What a function gets: the machine, and r1 to r5.
pub const PARAMETERS: usize = 6;

/// Translates a function into what Cranelift compiles.
pub struct Translator<'a, D> {
    program: &'a Program,
    function: usize,
    pub builder: FunctionBuilder<'a>,
    /// Makes a function known to the one that is translated.
    declare: D,
    known: BTreeMap<usize, FuncRef>,
    /// The signature of what calls the kernel, which every function has.
    signature: Option<SigRef>,
    registers: [Variable; REGISTERS],
    machine: Value,
    /// The host's address of the guest's address 0.
    pub base: Value,
    /// The end of the function's stack, and the host's address of it.
    frame: Value,
    pub stack: Value,
    /// Whether r10 is the end of the stack everywhere.
    pub keeps_frame: bool,
    /// Instructions that were executed, but for the last ones, which are counted together.
    executed: Variable,
    pending: i64,
    /// Where blocks begin, and which of them wait to be translated.
    blocks: BTreeMap<usize, Block>,
    waiting: Vec<usize>,
    at: usize,
}

/// The step that an instruction of the host was made of.
pub fn step_of(location: SourceLoc) -> Option<usize> {
    (!location.is_default()).then(|| location.bits() as usize)
}

/// What comes after a step.
enum Next {
    Step(usize),
    /// Other blocks, or nothing.
    Nothing,
}

impl<'a, D: FnMut(usize, &mut Function) -> FuncRef> Translator<'a, D> {
    pub fn new(
        program: &'a Program,
        function: usize,
        context: &'a mut Context,
        builder: &'a mut FunctionBuilderContext,
        declare: D,
    ) -> Self {
        let mut builder = FunctionBuilder::new(&mut context.func, builder);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let parameters = builder.block_params(entry).to_vec();
        let registers = std::array::from_fn(|_| builder.declare_var(I64));
        let executed = builder.declare_var(I64);
        let zero = builder.ins().iconst(I64, 0);
        for (register, &variable) in registers.iter().enumerate() {
            let value = parameters.get(register).copied().filter(|_| register > 0);
            builder.def_var(variable, value.unwrap_or(zero));
        }
        let steps = &program.functions[function].steps;
        Self {
            keeps_frame: !steps.iter().any(|&step| written(step) == Some(FRAME)),
            program,
            function,
            builder,
            declare,
            known: BTreeMap::new(),
            signature: None,
            registers,
            machine: parameters[0],
            base: zero,
            frame: zero,
            stack: zero,
            executed,
            pending: 0,
            blocks: BTreeMap::new(),
            waiting: Vec::new(),
            at: 0,
        }
    }

    pub fn translate(mut self, config: TargetFrontendConfig) {
        self.begin();
        let first = self.block(0);
        self.builder.ins().jump(first, &[]);
        while let Some(start) = self.waiting.pop() {
            let block = self.block(start);
            self.builder.switch_to_block(block);
            self.run(start);
        }
        self.builder.seal_all_blocks();
        self.builder.finalize(config);
    }

    /// Takes a stack, and what the machine knows.
    fn begin(&mut self) {
        self.base = self.shared(offset_of!(Shared, base));
        self.resume();
        let before = self.shared(offset_of!(Shared, frame));
        self.frame = self.builder.ins().iadd_imm_s(before, STACK.cast_signed());
        let deepest = self.shared(offset_of!(Shared, deepest));
        let is_deep = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, self.frame, deepest);
        self.stop_if(is_deep, stop::TOO_DEEP);
        self.store_shared(offset_of!(Shared, frame), self.frame);
        self.builder.def_var(self.registers[FRAME], self.frame);
        self.stack = self.builder.ins().iadd(self.base, self.frame);
    }

    /// Translates steps up to the next block.
    fn run(&mut self, start: usize) {
        let steps = &self.program.functions[self.function].steps;
        let mut at = start;
        loop {
            self.at = at;
            if at != start && self.blocks.contains_key(&at) {
                self.count();
                let block = self.block(at);
                self.builder.ins().jump(block, &[]);
                return;
            }
            let Some(&step) = steps.get(at) else { return self.stop(stop::PAST_END) };
            self.builder.set_srcloc(SourceLoc::new(u32::try_from(at).expect("it is inside")));
            self.pending += 1;
            match self.step(step) {
                Next::Step(next) => at = next,
                Next::Nothing => return,
            }
        }
    }

    fn step(&mut self, step: Step) -> Next {
        match step {
            Step::Plain(plain) => self.plain(plain),
            Step::Set { destination, value } => {
                let value = self.constant(value);
                self.set(destination, value);
                return Next::Step(self.at + 2);
            }
            Step::Jump { to } => {
                self.count();
                self.go(to);
                return Next::Nothing;
            }
            Step::JumpIf { condition, to } => {
                self.count();
                let holds = self.holds(condition);
                self.branch(holds, to);
                return Next::Nothing;
            }
            Step::JumpIfLong { to } => {
                self.count();
                let executed = self.builder.use_var(self.executed);
                let long = self.shared(offset_of!(Shared, long));
                let is_long = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, executed, long);
                self.branch(is_long, to);
                return Next::Nothing;
            }
            Step::Call(function) => self.call(function),
            Step::CallKernel(call) => self.call_kernel(call),
            Step::Exit => {
                self.save();
                let before = self.builder.ins().iadd_imm_s(self.frame, -STACK.cast_signed());
                self.store_shared(offset_of!(Shared, frame), before);
                let value = self.get(0);
                self.builder.ins().return_(&[value]);
                return Next::Nothing;
            }
            Step::Never(_) => {
                self.stop(stop::NEVER);
                return Next::Nothing;
            }
        }
        Next::Step(self.at + 1)
    }

    /// The block that begins at a step; it will be translated.
    fn block(&mut self, at: usize) -> Block {
        if let Some(&known) = self.blocks.get(&at) {
            return known;
        }
        let block = self.builder.create_block();
        self.blocks.insert(at, block);
        self.waiting.push(at);
        block
    }

    /// Goes to a step. Only what goes back can go on for ever.
    fn go(&mut self, to: usize) {
        if to <= self.at {
            let executed = self.builder.use_var(self.executed);
            let end = self.shared(offset_of!(Shared, end));
            let is_over = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, executed, end);
            self.stop_if(is_over, stop::ENDLESS);
        }
        let block = self.block(to);
        self.builder.ins().jump(block, &[]);
    }

    fn branch(&mut self, holds: Value, to: usize) {
        let (taken, next) = (self.builder.create_block(), self.block(self.at + 1));
        self.builder.ins().brif(holds, taken, &[], next, &[]);
        self.builder.switch_to_block(taken);
        self.go(to);
    }

    fn call(&mut self, function: usize) {
        self.save();
        let callee = match self.known.get(&function) {
            Some(&known) => known,
            None => {
                let callee = (self.declare)(function, self.builder.func);
                self.known.insert(function, callee);
                callee
            }
        };
        let arguments = self.arguments();
        let call = self.builder.ins().call(callee, &arguments);
        self.returned(call);
    }

    fn call_kernel(&mut self, call: usize) {
        self.save();
        let here = self.constant(site(self.function, self.at));
        self.store_shared(offset_of!(Shared, site), here);
        let number = self.constant(call as u64);
        self.store_shared(offset_of!(Shared, call), number);
        let signature = self.signature.unwrap_or_else(|| {
            let signature = self.builder.func.signature.clone();
            self.builder.import_signature(signature)
        });
        self.signature = Some(signature);
        let callee = self.shared(offset_of!(Shared, call_kernel));
        let arguments = self.arguments();
        let call = self.builder.ins().call_indirect(signature, callee, &arguments);
        self.returned(call);
    }

    /// What every function gets: the machine, and r1 to r5.
    fn arguments(&mut self) -> [Value; PARAMETERS] {
        std::array::from_fn(|number| match number {
            0 => self.machine,
            register => self.builder.use_var(self.registers[register]),
        })
    }

    /// After a call nothing is in the registers of its arguments.
    fn returned(&mut self, call: Inst) {
        let value = self.builder.inst_results(call)[0];
        self.set(0, value);
        let zero = self.constant(0);
        (1..=5).for_each(|register| self.set(register, zero));
        self.resume();
        let stopped = self.shared(offset_of!(Shared, stop));
        let (leave, goes_on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(leave);
        self.builder.ins().brif(stopped, leave, &[], goes_on, &[]);
        self.builder.switch_to_block(leave);
        self.builder.ins().return_(&[zero]);
        self.builder.switch_to_block(goes_on);
    }

    /// Counts the steps since the last time.
    fn count(&mut self) {
        if self.pending > 0 {
            let before = self.builder.use_var(self.executed);
            let executed = self.builder.ins().iadd_imm_s(before, self.pending);
            self.builder.def_var(self.executed, executed);
            self.pending = 0;
        }
    }

    /// Tells the machine how many instructions were executed.
    fn save(&mut self) {
        self.count();
        let executed = self.builder.use_var(self.executed);
        self.store_shared(offset_of!(Shared, executed), executed);
    }

    fn resume(&mut self) {
        let executed = self.shared(offset_of!(Shared, executed));
        self.builder.def_var(self.executed, executed);
    }

    fn stop_if(&mut self, condition: Value, why: u64) {
        let (over, goes_on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(over);
        self.builder.ins().brif(condition, over, &[], goes_on, &[]);
        self.builder.switch_to_block(over);
        self.stop(why);
        self.builder.switch_to_block(goes_on);
    }

    fn stop(&mut self, why: u64) {
        self.save();
        let why = self.constant(why);
        self.store_shared(offset_of!(Shared, stop), why);
        let here = self.constant(site(self.function, self.at));
        self.store_shared(offset_of!(Shared, site), here);
        let zero = self.constant(0);
        self.builder.ins().return_(&[zero]);
    }

    fn shared(&mut self, at: usize) -> Value {
        self.builder.ins().load(I64, MemFlagsData::trusted(), self.machine, place(at))
    }

    fn store_shared(&mut self, at: usize, value: Value) {
        self.builder.ins().store(MemFlagsData::trusted(), value, self.machine, place(at));
    }

    pub fn constant(&mut self, value: u64) -> Value {
        self.builder.ins().iconst(I64, value.cast_signed())
    }

    pub fn get(&mut self, register: u8) -> Value {
        self.builder.use_var(self.registers[usize::from(register)])
    }

    pub fn set(&mut self, register: u8, value: Value) {
        self.builder.def_var(self.registers[usize::from(register)], value);
    }

    pub fn operand(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Register(register) => self.get(register),
            Operand::Immediate(value) => self.constant(value),
        }
    }
}

/// Where something that is shared lies.
fn place(at: usize) -> i32 {
    i32::try_from(at).expect("little is shared")
}

/// The register that a step writes, if it writes one but r0.
fn written(step: Step) -> Option<usize> {
    let register = match step {
        Step::Plain(
            Plain::Compute { destination, .. }
            | Plain::Load { destination, .. }
            | Plain::CastAddress { destination, .. },
        )
        | Step::Set { destination, .. } => destination,
        Step::Plain(Plain::Change { register, is_fetched: true, .. }) => register,
        _ => return None,
    };
    Some(register.into())
}
