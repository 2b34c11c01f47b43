// SPDX-License-Identifier: GPL-2.0-only
//! Pages of the arena (kernel/bpf/arena.c).

use crate::errno::{Errno, returned};
use crate::machine::{Arguments, Machine, World};
use crate::maps::MapError;
use crate::memory::{ARENA, PAGE, length};

/// The page that an address in the arena begins; None if it is in the midst of one.
fn page(address: u64) -> Option<usize> {
    let place = address & u64::from(u32::MAX);
    place.is_multiple_of(PAGE).then(|| length(place / PAGE))
}

fn count(pages: u64) -> usize {
    length(pages & u64::from(u32::MAX))
}

/// Takes pages that are 0, at an address if one is given; returns where they begin, or 0.
pub fn allocate<W: World>(
    machine: &mut Machine<W>,
    [_, address, pages, _, flags]: Arguments,
) -> u64 {
    let pages = count(pages);
    if flags != 0 || pages == 0 || pages > machine.arena.pages() {
        return 0;
    }
    let wanted = if address == 0 { None } else { page(address) };
    if address != 0 && wanted.is_none() {
        return 0;
    }
    let Some(first) = machine.arena.take(pages, wanted) else { return 0 };
    let made = (first..first + pages).try_for_each(|page| machine.window.set_page(page, true));
    if made.is_err() {
        return machine.misuse(format!("there is no memory for {pages} pages of the arena"));
    }
    ARENA + first as u64 * PAGE
}

/// Gives pages back; what is not there, or not of the arena, is left alone.
pub fn free<W: World>(machine: &mut Machine<W>, [_, address, pages, ..]: Arguments) -> u64 {
    let Some(first) = page(address) else { return 0 };
    let end = first.saturating_add(count(pages)).min(machine.arena.pages());
    for page in first.max(1)..end {
        if machine.window.has_page(page) && machine.window.set_page(page, false).is_ok() {
            machine.arena.give_back(page, 1);
        }
    }
    0
}

/// Sets pages aside that no other request gets.
pub fn reserve<W: World>(machine: &mut Machine<W>, [_, address, pages, ..]: Arguments) -> u64 {
    let pages = count(pages);
    let end = page(address).and_then(|first| first.checked_add(pages));
    match (page(address), end) {
        _ if pages == 0 => 0,
        (Some(first), Some(end)) if end <= machine.arena.pages() => {
            machine.arena.take(pages, Some(first)).map_or(returned(Errno::BUSY), |_| 0)
        }
        _ => MapError::Invalid.code(),
    }
}
