"""What is promised of samples: that none is lost, and what each of them proves."""

from doors import GOING_ON, READ
from promise import (
    BY_ONE_LOOP,
    CAMPAIGN,
    CONTROLS,
    INSTRUMENT,
    JOINING,
    LAB,
    LISTS,
    NO_CAMPAIGN,
    NO_SAMPLE,
    READERS,
    READING,
    REBOOTS,
    RUNNING,
    SCHED_EXT,
    Promise,
    all_but,
)

OF_SAMPLES = (
    Promise(
        title="No sample is lost, and none is taken twice",
        says="Whatever is killed, stopped or disconnected, and when, every finished sample is in the journal once, "
        "and going on takes what is missing, in the order that was drawn.",
        page="trust.md#the-journal",
        held={
            "host/test_host_soak.py::test_no_interruption_loses_a_sample_or_leaves_anything": [
                "compare",
                "run",
                "resume",
            ],
            "lab/test_faults.py::test_kill_minus_nine_then_resume_loses_nothing_and_leaves_no_guest": [
                "compare",
                "resume",
            ],
            "lab/test_cluster_soak.py::test_no_sample_is_lost_or_taken_twice_whatever_dies": ["--cluster"],
            "lab/test_cluster_soak.py::test_local_workers_that_are_killed_lose_no_sample_and_take_none_twice": [
                "--cluster"
            ],
            f"{CAMPAIGN}test_extend.py::test_more_blocks_for_one_that_had_ended": ["resume --blocks"],
            f"{CAMPAIGN}test_extend.py::test_a_call_takes_what_is_missing_once": ["library resume"],
            f"{CAMPAIGN}test_given_up.py::test_what_waits_for_no_machine_is_refused_and_nothing_changes": [
                "resume --give-up"
            ],
            "host/test_host_until.py::test_it_ends_at_the_same_block_however_it_was_killed": ["resume --blocks"],
            f"{REBOOTS}test_all_is_taken_but_what_the_broken_kernel_would_have": ["--reboot"],
            "lab/test_sizes.py::test_each_size_is_a_campaign_and_the_same_command_takes_nothing_twice": [
                "sweep --cpus",
                "library conduct_sizes",
            ],
            "lab/test_matrix.py::test_each_arm_is_tried_and_what_fails_does_not_keep_the_others": [
                "matrix",
                "library conduct_matrix",
            ],
            f"{CAMPAIGN}test_merge.py::test_all_samples_are_there_and_no_block_is_of_two_machines": ["merge"],
            f"{CAMPAIGN}test_journal.py::test_samples_that_a_campaign_begins_with_are_there_all_or_none": [
                *JOINING,
            ],
            f"{CAMPAIGN}test_journal.py::test_a_killed_writer_leaves_every_finished_sample_and_no_lock": [
                "demo",
                "contest",
                "sweep",
                "noise",
                "published replicate",
                "library conduct",
            ],
        },
        apart={
            NO_SAMPLE: all_but(RUNNING, JOINING, ["--cluster", "--reboot"]),
        },
    ),
    Promise(
        title="Every void sample is counted and told",
        says="A void sample keeps its reason, is counted wherever numbers of its campaign are shown, and is never "
        "replaced or left out without a word.",
        page="trust.md#void-samples",
        held={
            f"{READERS}test_voids_are_told_by_every_reader": tuple(READ),
            f"{CAMPAIGN}test_given_up.py::test_what_the_block_lacks_is_void_with_the_reason": ["resume --give-up"],
            "unit/matrix/test_matrix_stress.py::test_an_ejected_arm_has_failed_with_the_kernels_log": [
                "matrix",
                "library conduct_matrix",
                "matrix --junit",
            ],
            "unit/decide/test_noise.py::test_one_block_or_an_arm_of_voids_is_none": ["noise keep", "noise"],
            f"{CAMPAIGN}test_hopeless.py::test_the_same_reason_with_other_numbers_ends_it_behind_the_first_block": [
                "compare",
                "contest",
                "run",
                "sweep",
                "demo",
                "published replicate",
                "library conduct",
                *GOING_ON,
            ],
            "unit/matrix/test_size_sweep.py::test_each_size_has_the_numbers_of_its_own_campaign": [
                "sweep --cpus",
                "library conduct_sizes",
            ],
            f"{CAMPAIGN}test_merge_call.py::test_a_call_merges_what_the_command_does": ["library merge"],
            "lab/test_cluster.py::test_a_sample_that_ends_every_worker_is_void_and_not_for_ever": ["--cluster"],
            f"{REBOOTS}test_all_is_taken_but_what_the_broken_kernel_would_have": ["--reboot"],
            "unit/imports/test_tables.py::test_failed_runs_of_a_table_are_void": ["import"],
            "unit/imports/test_library_calls.py::test_a_call_imports_what_the_command_does": ["library import_files"],
        },
        apart={
            "returns samples as they are, with `valid` and `reason`": ["library load"],
            "prints what one sample's disk was asked for": ["report --requests"],
            NO_CAMPAIGN: ["restore", *CONTROLS, "disk", *LAB, *LISTS],
        },
    ),
    Promise(
        title="The scheduler was in charge",
        says="A valid sample carries what the kernel said before and after it: the arm's scheduler, the same "
        "attachment, and threads of the work in its class. Anything else is void.",
        page="trust.md#proof-of-attachment",
        held={
            f"{SCHED_EXT}test_every_sample_is_proved": ["compare", "run"],
            "lab/test_faults.py::test_every_sample_carries_the_same_attachment_before_and_after": ["compare", "resume"],
            "lab/test_core.py::test_a_contest_cell_has_contests_tables": ["contest"],
            "lab/test_core.py::test_a_scheduler_attaches_is_proved_and_keeps_its_shares": [
                "sweep",
                "published replicate",
                "demo",
                "library conduct",
            ],
            "lab/test_cluster.py::test_local_workers_take_the_same_samples_and_leave_nothing": ["--cluster"],
            "lab/test_matrix.py::test_each_arm_is_tried_and_what_fails_does_not_keep_the_others": [
                "matrix",
                "library conduct_matrix",
            ],
            "lab/test_sizes.py::test_each_size_is_a_campaign_and_the_same_command_takes_nothing_twice": [
                "sweep --cpus",
                "library conduct_sizes",
            ],
            f"{CAMPAIGN}test_parts.py::test_another_object_or_program_is_refused_with_both_digests": list(GOING_ON),
            f"{SCHED_EXT}test_attach_reports_limits_that_no_longer_hold_and_long_turns": ["attach"],
            "host/test_host_controls.py::test_another_scheduler_under_the_name_of_ours_is_left_alone": ["set", "stats"],
            "lab/test_core.py::test_one_arm_against_itself_has_noise": ["noise"],
            f"{REBOOTS}test_each_boot_is_noted_and_none_is_in_vain": ["--reboot"],
            f"{CAMPAIGN}test_journal_rows.py::test_an_arm_that_is_two_objects_is_named": [
                *READING,
                "merge",
                "library merge",
            ],
        },
        apart={
            "has numbers of other programs, and every report of them says that nothing proves a scheduler": [
                "import",
                "library import_files",
            ],
            NO_SAMPLE: ["restore", "disk", *LAB, *LISTS],
        },
    ),
    Promise(
        title="The instrument is the same for all samples",
        says="What measures runs before and after each sample as it did when the campaign began; where work has "
        "changed it, the sample is void and the next one runs as before.",
        page="trust.md#containment",
        held={
            f"{INSTRUMENT}test_a_slice_that_work_gives_the_agent_is_found_and_taken_away": [
                "compare",
                "run",
            ],
            f"{INSTRUMENT}test_an_agent_runs_with_what_the_first_one_had_though_the_notebook_was_changed": [
                "compare",
                "run",
                "resume",
            ],
            "lab/test_cluster.py::test_a_worker_with_other_files_of_the_same_version_is_refused": ["--cluster"],
            "host/test_host_resume.py::test_another_agent_is_reported_first_with_the_blocks_of_each": [
                *GOING_ON,
                "--reboot",
            ],
        },
        apart={
            "takes samples by the same agent": BY_ONE_LOOP,
            NO_SAMPLE: all_but(RUNNING, ["--cluster", "--reboot"]),
        },
    ),
)
