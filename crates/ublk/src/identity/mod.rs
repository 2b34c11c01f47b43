// SPDX-License-Identifier: GPL-2.0-only
//! The task of each request, found by programs in the kernel: identity.bpf.c.

mod origins;

use std::cell::RefCell;
use std::ffi::OsStr;
use std::rc::Rc;

use anyhow::{Context as _, Result, ensure};
use elevators::Context;
use libbpf_rs::{
    Link, MapCore, MapHandle, ObjectBuilder, OpenMapMut, RingBuffer, RingBufferBuilder,
};

pub use self::origins::Origin;
use self::origins::Origins;
use bpf::{libbpf_log, objects};

/// What to find about a disk's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Whether an elevator of the kernel is in front of the driver.
    pub behind_elevator: bool,
    /// Whether the names of tasks are wanted.
    pub names: bool,
}

/// Watches one disk for as long as it lives.
pub struct Identity {
    _links: Vec<Link>,
    origins: Origins,
    exits: RingBuffer<'static>,
    exited: Rc<RefCell<Vec<Context>>>,
}

impl Identity {
    /// Watches the disk `name`, such as ublkb0, which need not exist yet.
    ///
    /// # Errors
    /// This kernel does not describe its types or refuses the programs.
    pub fn of_disk(name: &str, wanted: Wanted) -> Result<Self> {
        let (watching, log) = libbpf_log::caught(|| Self::load(name, wanted));
        watching.with_context(|| log.trim().lines().next_back().unwrap_or_default().to_owned())
    }

    fn load(name: &str, wanted: Wanted) -> Result<Self> {
        let mut object =
            ObjectBuilder::default().name("identity")?.open_memory(objects::IDENTITY)?;
        // `disk` in the program: its name, then whether names are wanted.
        let mut constant = [0; 24];
        ensure!(name.len() < 16, "the name {name} is too long");
        constant[..name.len()].copy_from_slice(name.as_bytes());
        constant[16] = u8::from(wanted.names);
        let mut constants = object
            .maps_mut()
            .find(|map: &OpenMapMut| map.name().to_string_lossy().ends_with(".rodata"))
            .context("the object has no constants")?;
        constants.set_initial_value(&constant)?;
        let is_wanted = |program: &OsStr| wanted.behind_elevator || program != "issue";
        for mut program in object.progs_mut() {
            let load = is_wanted(program.name());
            program.set_autoload(load);
        }
        let object = object.load()?;
        let map = |name: &str| {
            let found = object.maps().find(|map| map.name().to_string_lossy() == name);
            MapHandle::try_from(&found.with_context(|| format!("the object has no map {name}"))?)
                .map_err(anyhow::Error::from)
        };
        let (origins, exits) = (Origins::of(&map("origins")?)?, map("exits")?);
        let exited = Rc::new(RefCell::new(Vec::new()));
        let heard = Rc::clone(&exited);
        let mut builder = RingBufferBuilder::new();
        builder.add(&exits, move |bytes| {
            if let Some((task, _)) = bytes.split_first_chunk::<4>() {
                heard.borrow_mut().push(u32::from_ne_bytes(*task).into());
            }
            0
        })?;
        let ring = builder.build()?;
        let programs = object.progs_mut().filter(|program| is_wanted(program.name()));
        let links = programs.map(|program| program.attach()).collect::<Result<_, _>>()?;
        Ok(Self { _links: links, origins, exits: ring, exited })
    }

    /// The origin of the request that `tag` stands for now.
    pub fn of(&self, tag: u16) -> Origin {
        self.origins.of_tag(tag)
    }

    /// A descriptor that is readable when a user of the disk has exited.
    pub fn exits_fd(&self) -> i32 {
        self.exits.epoll_fd()
    }

    /// Users that have exited since the last call.
    pub fn exits(&self) -> Vec<Context> {
        self.exits.consume_raw();
        self.exited.take()
    }
}
