"""What is promised of words: those that runoff takes, and those that it prints."""

from doors import BEGIN, BEGIN_BY_CALL, GOING_ON, READ
from promise import (
    BEGINNERS,
    CALLS,
    CAMPAIGN,
    CONTROLS,
    DIRECTORY,
    LAB,
    NO_CAMPAIGN,
    OUTPUT,
    READERS,
    READING,
    WORDS,
    Promise,
    all_but,
)

OF_WORDS = (
    Promise(
        title="The unit of analysis is named",
        says="Wherever a verdict is given, it is said of what: blocks, runs in no blocks, machines, campaigns, and "
        "whether somebody looked in between.",
        page="statistics.md#in-short",
        held={
            f"{CAMPAIGN}test_merge.py::test_every_form_knows_machines": [
                "report",
                "report --json",
                "report --markdown",
                "report --csv",
                "merge",
            ],
            f"{CAMPAIGN}test_merge_verdicts.py::test_several_tables_name_the_machines_too": ["report --html"],
            f"{CAMPAIGN}test_merge_verdicts.py::test_a_gate_that_no_machine_fails_says_that_it_asked_each": [
                "gate",
                "gate --junit",
                "gate --github-summary",
            ],
            "unit/history/test_history_machines.py::test_machines_that_take_turns_have_series_of_their_own": [
                "history",
                "history --html",
            ],
            "unit/report/test_until_report.py::test_the_report_says_how_it_ended_and_by_which_rule": [
                "compare",
                "run",
                "sweep",
                "resume",
                "library conduct",
                "library resume",
            ],
            f"{CAMPAIGN}test_extend.py::test_more_blocks_after_a_look_put_a_campaign_under_the_rule": [
                "resume --blocks"
            ],
            f"{CAMPAIGN}test_given_up.py::test_a_look_counts_the_block_and_not_its_voids": ["resume --give-up"],
            "unit/analysis/test_beside.py::test_every_form_shows_it": ["report A B"],
            "unit/imports/test_import_command.py::test_two_columns_get_the_verdict_of_welch": ["import"],
            "unit/imports/test_library_calls.py::test_a_call_imports_what_the_command_does": ["library import_files"],
            "unit/decide/test_sample_size.py::test_the_blocks_are_those_of_the_pilots_noise": ["blocks"],
            "unit/decide/test_noise.py::test_what_is_kept_is_the_sd_of_block_differences": [
                "noise",
                "noise keep",
                "noise list",
            ],
            "unit/matrix/test_size_sweep.py::test_the_verdict_names_the_sizes": [
                "sweep --cpus",
                "library conduct_sizes",
            ],
            f"{CAMPAIGN}test_merge_call.py::test_a_call_merges_what_the_command_does": ["library merge"],
            "lab/test_cluster.py::test_two_machines_take_whole_blocks_each_and_are_read_like_merged_ones": [
                "--cluster"
            ],
            f"{CAMPAIGN}test_boots.py::test_a_block_takes_each_kernel_once": ["--reboot"],
        },
        apart={
            "gives the verdict of `compare`, by the same report": ["demo", "contest", "published replicate"],
            "gives no verdict on a difference": [
                "matrix",
                "matrix --junit",
                "library conduct_matrix",
                "report --requests",
                "report --figures",
                "library load",
            ],
            NO_CAMPAIGN: ["restore", *CONTROLS, "disk", *LAB, "inspect", "doctor", "list", "published", "completion"],
        },
    ),
    Promise(
        title="Foreign text is made printable",
        says="Names, titles, outputs and logs that others have written reach terminals, pages and documents without "
        "control characters, marks of direction or sequences for terminals.",
        page="reports.md#text-of-others",
        held={
            f"{OUTPUT}test_a_report_has_nothing_of_it": [
                "report",
                "report --json",
                "report --markdown",
                "report --html",
                "report --csv",
            ],
            f"{OUTPUT}test_other_commands_have_nothing_of_it": ["gate", "blocks", "resume"],
            "unit/decide/test_gate.py::test_any_name_survives_every_view": ["gate --junit", "gate --github-summary"],
            "unit/history/test_history.py::test_foreign_names_are_made_printable_everywhere": [
                "history",
                "history --html",
            ],
            f"{OUTPUT}test_an_error_has_nothing_of_it": [
                "compare",
                *all_but(READING, GOING_ON, CALLS, ["compare", "completion", "matrix --junit", "--reboot"]),
            ],
            f"{READERS}test_a_name_of_a_campaign_is_printable_in_every_view": tuple(READ),
            "unit/cli/test_completion.py::test_campaigns": ["completion"],
            "unit/matrix/test_matrix_missing.py::test_junit_has_a_test_for_each_arm_on_each_kernel": ["matrix --junit"],
        },
        apart={
            "prints by the door that it stands beside": ["resume --blocks", "resume --give-up"],
            "returns values and prints nothing": CALLS,
            "prints fields of a log that only numbers and fixed words are accepted in": ["report --requests"],
            "prints what `noise list` does": ["noise keep"],
            "writes paths into a unit, and refuses one with a line break": ["--reboot"],
        },
    ),
    Promise(
        title="Any input is one sentence and the right exit code",
        says="What cannot be asked for ends with 64, what this machine lacks with 69, each with one sentence that "
        "names the thing and the way out, and nothing is changed.",
        page="faq.md#what-do-the-exit-codes-mean",
        held={
            f"{WORDS}test_a_wrong_word_is_one_sentence": all_but(["report A B"], CALLS),
            f"{BEGINNERS}test_every_command_leaves_a_directory_alone_that_is_not_empty": tuple(BEGIN),
            "unit/imports/test_hostile_files.py::test_a_hostile_file_is_refused_in_a_sentence": ["import"],
            "unit/analysis/test_beside.py::test_what_has_nothing_in_common_is_refused": ["report A B"],
            f"{CAMPAIGN}test_journal.py::test_foreign_and_damaged_files_are_refused": ["library load"],
            "unit/plan/test_plan.py::test_wrong_settings_name_origin_and_key": ["library conduct"],
            "unit/imports/test_library_calls.py::test_a_call_imports_what_the_command_does": ["library import_files"],
            f"{BEGINNERS}test_every_call_leaves_a_directory_alone_that_is_not_empty": tuple(BEGIN_BY_CALL),
            f"{DIRECTORY}test_a_call_goes_on_with_nothing_that_the_command_refuses": ["library resume"],
            f"{OUTPUT}test_a_full_or_closed_standard_output_is_a_sentence": ["report", "report --json", "gate", "list"],
        },
        apart={},
    ),
)
