"""What is promised of files: what runoff reads, writes, follows and leaves."""

from doors import BEGIN, BEGIN_BY_CALL, COMMANDS_GOING_ON, FILES, GOING_ON, ONE_FILE, READ, SCREENS
from promise import (
    BEGINNERS,
    BY_ONE_LOOP,
    CAMPAIGN,
    CLUSTER,
    CONTROLS,
    DEFAULT,
    DIRECTORY,
    HOUSE,
    JOINING,
    KEPT,
    LAB,
    LAB_UNIT,
    LISTS,
    NOTHING_TO_READ,
    PLACE,
    READERS,
    READING,
    REBOOTS,
    RUNNING,
    SCHED_EXT,
    TAKING,
    WRITES_NOTHING,
    Promise,
)

OF_FILES = (
    Promise(
        title="No link is followed",
        says="Where runoff reads or writes a file of a campaign, of the lab's cache or one that an option names, a "
        "link, a pipe or a device in its place is refused or replaced, and what it leads to stays as it is.",
        page="trust.md#a-campaign-of-somebody-else",
        held={
            f"{READERS}test_a_journal_behind_a_link_is_refused_by_every_reader": tuple(READ),
            f"{READERS}test_a_link_where_a_file_is_to_be_written_is_not_followed": ONE_FILE,
            f"{DIRECTORY}test_links_in_it_are_named_and_not_followed": [
                *COMMANDS_GOING_ON,
                "library load",
                "report --requests",
                "noise keep",
            ],
            f"{DIRECTORY}test_a_call_goes_on_with_nothing_that_the_command_refuses": ["library resume"],
            f"{PLACE}test_root_begins_nothing_where_others_could_redirect_it": ["import"],
            f"{BEGINNERS}test_every_command_refuses_a_link_that_leads_nowhere": tuple(BEGIN),
            f"{BEGINNERS}test_every_call_refuses_a_link_that_leads_nowhere": tuple(BEGIN_BY_CALL),
            f"{HOUSE}test_reading.py::test_no_link_pipe_or_device_is_read": ["import", "merge", "matrix"],
            f"{HOUSE}test_files.py::test_folders_in_it_are_made_and_no_link_is_followed": ["report --figures"],
            f"{HOUSE}test_files.py::test_an_output_is_a_whole_file_a_pipe_or_a_device_but_nothing_behind_a_link": [
                "matrix --junit"
            ],
            f"{CLUSTER}test_local.py::test_a_link_in_its_place_is_not_followed": ["--cluster"],
            f"{LAB_UNIT}test_holdings.py::test_links_and_files_go_and_what_a_link_leads_to_stays": ["cache"],
            f"{LAB_UNIT}test_holdings.py::test_a_lock_behind_a_link_is_refused_and_what_it_leads_to_stays": [
                "kernel",
                "image",
                "qemu",
                "scx",
            ],
            "unit/engines/test_disk_command.py::test_a_link_that_leads_nowhere_is_there_already": ["disk"],
        },
        apart={
            "its unit is made by the one place that writes new files, and the campaign is one that `resume` takes": [
                "--reboot"
            ],
            "opens directories below /run and /sys only, without following links, as tests of the agent hold": [
                "restore"
            ],
            "opens files of the kernel only": CONTROLS,
            "reads what came with runoff, or what lies in the user's own data directory": LISTS,
        },
    ),
    Promise(
        title="Nothing of a stranger's is trusted",
        says="As root, runoff begins no campaign, goes on with none and starts no worker where another user could "
        "put something else in the place of what it writes or runs, by owner, mode, list or link, on the way to it or "
        "in it, unless --trust-directory says so.",
        page="trust.md#a-campaign-of-somebody-else",
        held={
            f"{BEGINNERS}test_every_command_refuses_a_strangers_directory": tuple(BEGIN),
            f"{BEGINNERS}test_every_call_refuses_a_strangers_directory": tuple(BEGIN_BY_CALL),
            f"{DIRECTORY}test_root_does_not_run_what_others_may_have_written": list(COMMANDS_GOING_ON),
            f"{DIRECTORY}test_root_calls_nothing_that_others_may_have_written": ["library resume"],
            f"{CLUSTER}test_address.py::test_root_speaks_to_nobody_on_this_machine_without_tls": ["--cluster"],
            f"{CLUSTER}test_local.py::test_its_directory_is_private_and_nothing_is_in_the_shared_one": ["--cluster"],
            "unit/reboot/test_unit.py::test_the_campaign_of_a_unit_is_found_again_and_another_is_refused": ["--reboot"],
            f"{LAB_UNIT}test_hostile_cache.py::test_a_strangers_cache_is_refused": LAB,
        },
        apart={
            "runs nothing of a campaign: what it reads is checked row by row and told as it is": READING,
            "goes on with nothing that was stored": ["restore", *CONTROLS, "disk"],
            "reads what came with runoff, or what lies in the user's own data directory": LISTS,
        },
    ),
    Promise(
        title="An edit is found",
        says="A row of the journal that was edited, removed or moved, and a kept copy that was changed, are found "
        "when they are read, named, and not used.",
        page="trust.md#the-journal",
        held={
            f"{READERS}test_an_edited_row_is_refused_by_every_reader": tuple(READ),
            f"{CAMPAIGN}test_journal_chain.py::test_each_kind_of_edit_is_refused_with_the_row": [
                *GOING_ON,
                "library load",
                "noise keep",
            ],
            f"{CAMPAIGN}test_journal_chain.py::test_a_log_of_requests_is_of_its_sample": ["report --requests"],
            f"{CAMPAIGN}test_kept_files.py::test_a_damaged_copy_is_named_with_the_way_out": list(GOING_ON),
            f"{CLUSTER}test_parcels.py::test_a_parcel_that_was_changed_in_the_cache_is_received_again": ["--cluster"],
            f"{LAB_UNIT}test_lab_kernel.py::test_a_kernel_is_held_against_its_digest_where_it_is_used": ["kernel"],
            f"{LAB_UNIT}test_emulator.py::test_a_program_that_was_changed_is_refused_and_built_again": ["qemu"],
            "unit/engines/test_scx_programs.py::test_a_program_that_was_changed_is_refused": ["scx"],
            f"{LAB_UNIT}test_lab_cache.py::test_leftovers_of_another_version_or_an_accident_are_not_an_image": [
                "image"
            ],
            "unit/decide/test_noise.py::test_edited_noise_is_refused": ["noise list"],
            f"{CAMPAIGN}test_merge_call.py::test_a_call_merges_nothing_that_the_command_refuses": ["library merge"],
        },
        apart={
            "has nothing of an earlier campaign to read": TAKING,
            "reads files that other programs have written, which have no digests": ["import", "library import_files"],
            "goes on by `resume`, which refuses it": ["--reboot"],
            NOTHING_TO_READ: [
                "restore",
                *CONTROLS,
                "disk",
                "cache",
                "inspect",
                "doctor",
                "list",
                "published",
                "completion",
            ],
            "reads the campaigns that it has taken itself by the same reader": ["matrix --junit"],
        },
    ),
    Promise(
        title="A campaign has one writer, and files are whole",
        says="Two processes cannot write one campaign, and a file that runoff writes is there whole or not at all.",
        page="trust.md#the-journal",
        held={
            f"{DEFAULT}test_two_runs_in_one_directory_are_refused": ["compare", "run", "resume"],
            f"{DIRECTORY}test_a_second_writer_is_refused_though_nothing_in_the_directory_says_so": [*RUNNING, *JOINING],
            f"{HOUSE}test_files.py::test_a_crash_at_any_step_leaves_the_old_content": list(FILES),
            f"{LAB_UNIT}test_lab_cache.py::test_a_second_builder_waits_says_so_and_finds_the_work_of_the_first": [
                "kernel",
                "image",
                "qemu",
                "scx",
            ],
            f"{LAB_UNIT}test_holdings.py::test_what_another_runoff_holds_stays": ["cache"],
            f"{CLUSTER}test_parcels.py::test_two_senders_of_one_parcel_do_not_disturb_each_other": ["--cluster"],
            "unit/engines/test_disk_command.py::test_a_file_that_another_process_makes_meanwhile_is_not_removed": [
                "disk"
            ],
            f"{SCHED_EXT}test_a_scheduler_that_is_attached_already_is_named": ["attach"],
        },
        apart={
            WRITES_NOTHING: [door for door in SCREENS if door != "noise keep"] + ["stats", *LISTS],
            "writes one file of the user's own data whole, by the one place that does": ["noise keep"],
            "changes what the kernel holds, not files": ["set", "restore"],
            "writes by `resume`": ["--reboot"],
        },
    ),
    Promise(
        title="Nothing is left on the machine",
        says="When a command has ended, however it ended, no process, mount, control group, directory, scheduler or "
        "setting of its own is left; what a kill leaves, the next campaign or `runoff restore` removes. Reading "
        "changes nothing.",
        page="host.md#what-is-changed-and-put-back",
        held={
            f"{READERS}test_reading_changes_nothing_of_a_campaign": tuple(READ),
            f"{KEPT}test_a_report_leaves_nothing_behind": ["report", "report --requests", "library load"],
            "host/test_host_soak.py::test_no_interruption_loses_a_sample_or_leaves_anything": [
                "compare",
                "run",
                "resume",
                "restore",
            ],
            f"{SCHED_EXT}test_kill_in_the_middle_then_resume_completes_and_restore_leaves_nothing": [
                "compare",
                "resume",
                "restore",
            ],
            "lab/test_cluster.py::test_a_campaign_that_is_interrupted_leaves_no_worker_and_goes_on_here": ["--cluster"],
            f"{REBOOTS}test_the_bootloader_is_as_before": ["--reboot"],
            f"{SCHED_EXT}test_a_killed_attach_takes_its_scheduler_with_it": ["attach"],
            "host/test_host_disk.py::test_a_killed_server_leaves_errors_and_no_hang": ["disk"],
            f"{LAB_UNIT}test_lab_cache.py::test_failed_build_leaves_nothing_and_the_next_one_succeeds": [
                "kernel",
                "image",
            ],
            f"{LAB_UNIT}test_lab_cache.py::test_killed_build_is_cleared_by_the_next": [
                "kernel",
                "image",
                "qemu",
                "scx",
            ],
            f"{LAB_UNIT}test_holdings.py::test_a_dry_run_removes_nothing_and_says_so": ["cache"],
            "unit/imports/test_import_command.py::test_what_cannot_be_compared_is_named_and_changes_nothing": [
                "import"
            ],
            "unit/imports/test_library_calls.py::test_a_call_imports_what_the_command_does": ["library import_files"],
            f"{CAMPAIGN}test_merge_call.py::test_a_call_merges_nothing_that_the_command_refuses": ["library merge"],
        },
        apart={
            "takes samples by the same loop and the same engines": (*BY_ONE_LOOP, *GOING_ON[1:]),
            "changes a parameter, and that is what it is for": ["set"],
            "only reads": ["stats", "inspect", "doctor", "list", "noise list", "published", "completion"],
            "adds to the user's own data, and that is what it is for": ["noise keep"],
            "writes its file beside what `matrix` leaves": ["matrix --junit"],
        },
    ),
)
