// SPDX-License-Identifier: GPL-2.0-only

use std::mem::ManuallyDrop;

use cranelift_codegen::Context;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, Signature};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{ArenaMemoryProvider, JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError};
use thiserror::Error;

use super::function::{PARAMETERS, Translator, step_of};
use crate::instruction::BYTES;
use crate::program::Program;

/// Addresses that are reserved for each byte of instructions; no instruction becomes longer.
const GROWTH: usize = 256;

/// Why a program cannot be compiled.
#[derive(Debug, Error)]
pub enum CompileError {
    #[error("this machine has no compiler: {0}")]
    Host(String),
    #[error(transparent)]
    Module(#[from] Box<ModuleError>),
    #[error("there is no memory for instructions: {0}")]
    Memory(String),
}

/// The instructions of the host for a program. They have no addresses of a machine in them: one can serve many.
pub struct Compiled {
    module: ManuallyDrop<JITModule>,
    functions: Vec<Code>,
}

/// The instructions of a function.
struct Code {
    entry: usize,
    bytes: usize,
    /// Where the instructions of which step begin, in bytes from the entry.
    steps: Vec<(u32, usize)>,
}

impl Compiled {
    /// Compiles all functions of a program.
    ///
    /// # Errors
    /// There is no compiler for this machine, or no memory.
    pub fn new(program: &Program) -> Result<Self, CompileError> {
        let mut module = module(program)?;
        let mut signature = module.make_signature();
        signature.params = vec![AbiParam::new(I64); PARAMETERS];
        signature.returns = vec![AbiParam::new(I64)];
        let declare = |(number, _)| {
            module
                .declare_function(&format!("f{number}"), Linkage::Local, &signature)
                .map_err(|error| CompileError::Module(Box::new(error)))
        };
        let ids = program.functions.iter().enumerate().map(declare);
        let ids = ids.collect::<Result<Vec<_>, _>>()?;
        let mut compiler = Compiler {
            program,
            ids: &ids,
            signature,
            context: module.make_context(),
            builder: FunctionBuilderContext::new(),
            module: &mut module,
        };
        let lengths = (0..ids.len())
            .map(|function| compiler.compile(function))
            .collect::<Result<Vec<_>, _>>()?;
        module.finalize_definitions().map_err(Box::new)?;
        let functions = ids.iter().zip(lengths).map(|(&id, (bytes, steps))| Code {
            entry: module.get_finalized_function(id) as usize,
            bytes,
            steps,
        });
        let functions = functions.collect();
        Ok(Self { module: ManuallyDrop::new(module), functions })
    }

    /// The address of a function's instructions.
    pub fn entry(&self, function: usize) -> usize {
        self.functions[function].entry
    }

    /// The function and the step that an instruction at an address belongs to.
    pub fn find(&self, address: usize) -> Option<(usize, usize)> {
        let inside = |code: &Code| (code.entry..code.entry + code.bytes).contains(&address);
        let function = self.functions.iter().position(inside)?;
        let code = &self.functions[function];
        let at = u32::try_from(address - code.entry).ok()?;
        let next = code.steps.partition_point(|&(from, _)| from <= at);
        Some((function, code.steps[next.checked_sub(1)?].1))
    }

    /// Bytes of all instructions.
    pub fn bytes(&self) -> usize {
        self.functions.iter().map(|code| code.bytes).sum()
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        // SAFETY: it is taken once, and machines that run these instructions hold this value.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() };
    }
}

// SAFETY: after compiling, nothing of the module is changed, and its instructions keep no state.
unsafe impl Send for Compiled {}
// SAFETY: as above.
unsafe impl Sync for Compiled {}

fn module(program: &Program) -> Result<JITModule, CompileError> {
    let host = |why: String| CompileError::Host(why);
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ("unwind_info", "false"),
        ("is_pic", "false"),
    ] {
        flags.set(name, value).map_err(|error| host(error.to_string()))?;
    }
    let native = cranelift_native::builder().map_err(|why| host(why.to_owned()))?;
    let isa =
        native.finish(settings::Flags::new(flags)).map_err(|error| host(error.to_string()))?;
    let mut builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
    // All in one piece, so that calls reach each other wherever the window lies.
    let steps: usize = program.functions.iter().map(|function| function.steps.len()).sum();
    let reserved = (1 << 20) + steps * BYTES * GROWTH;
    let memory = ArenaMemoryProvider::new_with_size(reserved);
    let memory = memory.map_err(|error| CompileError::Memory(error.to_string()))?;
    builder.memory_provider(Box::new(memory));
    Ok(JITModule::new(builder))
}

/// What is needed to compile one function after the other.
struct Compiler<'a> {
    program: &'a Program,
    ids: &'a [FuncId],
    signature: Signature,
    context: Context,
    builder: FunctionBuilderContext,
    module: &'a mut JITModule,
}

impl Compiler<'_> {
    /// Compiles a function; returns its bytes, and where its steps begin.
    fn compile(&mut self, function: usize) -> Result<(usize, Vec<(u32, usize)>), CompileError> {
        let Self { program, ids, signature, context, builder, module } = self;
        let config = module.target_config();
        context.func.signature = signature.clone();
        Translator::new(program, function, context, builder, |function, func| {
            module.declare_func_in_func(ids[function], func)
        })
        .translate(config);
        module.define_function(ids[function], context).map_err(Box::new)?;
        let compiled = context.compiled_code().expect("it was just compiled");
        let steps = compiled.buffer.get_srclocs_sorted().iter();
        let steps = steps.filter_map(|place| Some((place.start, step_of(place.loc)?)));
        let made = (compiled.code_info().total_size as usize, steps.collect());
        module.clear_context(context);
        Ok(made)
    }
}
