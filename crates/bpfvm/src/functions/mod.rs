// SPDX-License-Identifier: GPL-2.0-only
//! Functions of the kernel that need nothing but a machine: sets of CPUs, numbers to loop over, what programs allocate
//! with its lists and trees, pages of the arena (kernel/bpf).

mod arena;
mod cpumask;
mod lists;
mod locks;
mod numbers;
mod objects;
mod trees;

use crate::helpers::print_to_stream;
use crate::machine::{KernelFunction, World};

/// The function with a name, if it needs nothing else. A world that has more asks here for the others.
pub fn find<W: World>(name: &str) -> Option<KernelFunction<W>> {
    if let Some(rest) = name.strip_prefix("bpf_cpumask_") {
        return cpumask::find(rest);
    }
    Some(match name {
        "bpf_arena_alloc_pages" => arena::allocate,
        "bpf_arena_free_pages" => arena::free,
        "bpf_arena_reserve_pages" => arena::reserve,
        "bpf_iter_num_new" => numbers::begin,
        "bpf_iter_num_next" => numbers::next,
        "bpf_iter_num_destroy" => numbers::end,
        "bpf_list_push_front" | "bpf_list_push_front_impl" => lists::push_front,
        "bpf_list_push_back" | "bpf_list_push_back_impl" => lists::push_back,
        "bpf_list_pop_front" => lists::pop_front,
        "bpf_list_pop_back" => lists::pop_back,
        "bpf_list_front" => lists::front,
        "bpf_list_back" => lists::back,
        "bpf_obj_new" | "bpf_obj_new_impl" => objects::new,
        "bpf_obj_drop" | "bpf_obj_drop_impl" => objects::drop,
        "bpf_refcount_acquire" | "bpf_refcount_acquire_impl" => objects::acquire,
        "bpf_rbtree_add" | "bpf_rbtree_add_impl" => trees::add,
        "bpf_rbtree_first" => trees::first,
        "bpf_rbtree_remove" => trees::remove,
        "bpf_res_spin_lock" | "bpf_res_spin_lock_irqsave" => locks::lock,
        "bpf_res_spin_unlock" | "bpf_res_spin_unlock_irqrestore" => locks::unlock,
        // Nothing interrupts a program, and what it sees goes after it has returned.
        "bpf_rcu_read_lock"
        | "bpf_rcu_read_unlock"
        | "bpf_preempt_disable"
        | "bpf_preempt_enable"
        | "bpf_local_irq_save"
        | "bpf_local_irq_restore" => |_, _| 0,
        "bpf_stream_vprintk" | "bpf_stream_vprintk_impl" => print_to_stream,
        _ => return None,
    })
}
