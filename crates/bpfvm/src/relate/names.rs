// SPDX-License-Identifier: GPL-2.0-only

/// The name of a kernel's thing that a name in an object means: what follows the last three underscores is a flavour,
/// by which one object can have several versions of it.
pub fn essential(name: &str) -> &str {
    let flavour = name
        .as_bytes()
        .windows(5)
        .rposition(|part| part[0] != b'_' && &part[1..4] == b"___" && part[4] != b'_');
    flavour.map_or(name, |at| &name[..=at])
}

#[cfg(test)]
mod tests {
    use super::essential;

    #[test]
    fn a_flavour_is_what_follows_the_last_three_underscores() {
        for (name, wanted) in [
            ("task_struct", "task_struct"),
            ("task_struct___old", "task_struct"),
            ("scx_bpf_dsq_insert___v2___compat", "scx_bpf_dsq_insert___v2"),
            ("a___b", "a"),
            ("___b", "___b"),
            ("a___", "a___"),
            ("a____b", "a____b"),
            ("a____b___c", "a____b"),
            ("", ""),
        ] {
            assert_eq!(essential(name), wanted, "{name}");
        }
    }
}
