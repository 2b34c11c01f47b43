// SPDX-License-Identifier: GPL-2.0-only
//! What is read from an output, and what is said where nothing is.

use numbers::{Listed, Objection, Output, Text, list, objection, read};
use protocol::{Extract, Find, Stream, Which};

fn extract(find: Find) -> Extract {
    Extract {
        metric: "time_s".into(),
        find,
        unit: "s".into(),
        which: Which::Only,
        row: None,
        separated: false,
        thousands: None,
        stream: Stream::Stdout,
    }
}

fn pattern(text: &str) -> Extract {
    extract(Find::Pattern(text.into()))
}

fn printed(stdout: &str) -> Output {
    Output { stdout: Text::new(stdout.as_bytes(), false), ..Output::default() }
}

fn read_from(extract: &Extract, stdout: &str) -> Result<f64, String> {
    read(extract, &printed(stdout)).map_err(|objection| objection.reason)
}

fn read_one(text: &str, stdout: &str) -> Result<f64, String> {
    read_from(&pattern(text), stdout)
}

#[test]
fn several_matches_that_agree_are_one() {
    assert_eq!(read_one(r"Time: ([0-9.]+)", "Time: 1.5\nTime: 1.50\n"), Ok(1.5));
}

#[test]
fn matches_that_differ_need_a_choice() {
    let output = "a: 99.0th: 720\nb: 99.0th: 366020\n";
    let ambiguous = pattern(r"99\.0th: ([0-9]+)");
    let reason = read_from(&ambiguous, output).unwrap_err();
    assert!(reason.contains("fits 2 places") && reason.contains("b: 99.0th: 366020"), "{reason}");
    for (which, expected) in [
        (Which::First, 720.0),
        (Which::Last, 366_020.0),
        (Which::Sum, 366_740.0),
        (Which::Mean, 183_370.0),
        (Which::Max, 366_020.0),
        (Which::Min, 720.0),
    ] {
        let chosen = Extract { which, ..ambiguous.clone() };
        assert_eq!(read_from(&chosen, output), Ok(expected));
    }
}

#[test]
fn begin_and_end_of_a_line_are_those_of_each_line() {
    assert_eq!(read_one("^b ([0-9]+)$", "a 1\r\nb 22\r\n"), Ok(22.0));
    assert_eq!(read_one(r"\A([0-9]+)", "7\n8\n"), Ok(7.0));
    assert!(read_one("^([0-9]+)", "10%\r20%\n").unwrap_err().contains("in %"));
}

#[test]
fn what_a_terminal_colours_is_read_as_it_shows() {
    let reason = read_one(r"([0-9.]+)\s+switches", "\u{1b}[1m12\u{1b}[0m,345  switches\n");
    assert!(reason.unwrap_err().contains("cut out of \"12,345\""));
    assert_eq!(read_one(r"^time ([0-9.]+)", "\u{1b}[32mtime\u{1b}[m 1.5\n"), Ok(1.5));
}

#[test]
fn a_piece_of_a_number_is_reported_with_its_line() {
    let output = "   12,345      context-switches\n";
    let reason = read_one(r"([0-9.]+)\s+context-switches", output).unwrap_err();
    let expected = "the output has \"345\" for metric time_s, cut out of \"12,345\"";
    assert!(
        reason.starts_with(expected) && reason.ends_with("\"12,345      context-switches\""),
        "{reason}"
    );
    let separated = Extract { separated: true, ..pattern(r",([0-9]+)$") };
    assert_eq!(read_from(&separated, "3,345"), Ok(345.0));
    let thousands = Extract { thousands: Some(','), ..pattern(r"([0-9,]+)\s+context-switches") };
    assert_eq!(read_from(&thousands, output), Ok(12_345.0));
}

#[test]
fn units_are_converted_by_their_group_and_refused_without() {
    let seconds = r"Latency\s+([0-9.]+)(?P<unit>\w*)";
    assert_eq!(read_one(seconds, "Latency 900.00us"), Ok(900.0 * 1e-6));
    assert_eq!(read_one(seconds, "Latency 1.10ms"), Ok(1.1 * 1e-3));
    assert_eq!(read_one(seconds, "Latency 0"), Ok(0.0));
    assert!(
        read_one(seconds, "Latency 5").unwrap_err().contains("in \"\", which cannot be converted")
    );
    assert!(read_one(seconds, "Latency 5apples").unwrap_err().contains("in \"apples\""));
    let bare = r"Latency\s+([0-9.]+)";
    assert!(read_one(bare, "Latency 1.10ms").unwrap_err().contains("in ms and not in \"s\""));
    assert_eq!(read_one(bare, "Latency 1.10s"), Ok(1.1));
    assert_eq!(read_one(r"(?<unit>\w+)=([0-9.]+)", "ms=5"), Ok(5.0 * 1e-3));
    assert_eq!(read_one(r"real\s+(\S+)", "real\t3m12.4s\n"), Ok(192.4));
}

#[test]
fn output_without_the_number_says_what_was_there() {
    assert_eq!(
        read_one(r"Time: ([0-9.]+)", "one\nnothing\n"),
        Err("the output has no number for metric time_s (pattern Time: ([0-9.]+)): standard output was read, its last \
             line is \"nothing\""
            .into())
    );
    assert!(
        read_one("([0-9]+)", "").unwrap_err().ends_with("standard output was read, it is empty")
    );
}

#[test]
fn the_stream_that_has_the_number_is_named_and_can_be_chosen() {
    let output = Output { stderr: Text::new(b"real 1.5\n", false), ..printed("done\n") };
    let on_stdout = pattern("real ([0-9.]+)");
    let Objection { reason, detail } = read(&on_stdout, &output).unwrap_err();
    assert!(reason.ends_with("; standard error has one: say stream = \"stderr\""), "{reason}");
    assert_eq!(detail, "done");
    assert_eq!(read(&Extract { stream: Stream::Stderr, ..on_stdout }, &output), Ok(1.5));
}

#[test]
fn an_output_that_is_longer_than_what_is_searched_is_told() {
    let output = Output { stdout: Text::new(b"half\nrest\n", true), ..Output::default() };
    let reason = read(&pattern("score ([0-9]+)"), &output).unwrap_err().reason;
    assert!(reason.ends_with("; only its last 4 MiB are searched"), "{reason}");
}

#[test]
fn text_that_is_not_a_number_is_reported() {
    for text in ["nan", "NaN", "inf", "-inf", "infinity", "1e999", "5071,0"] {
        let reason = read_one(r"Time: (\S+)", &format!("Time: {text}\n")).unwrap_err();
        assert!(
            reason.starts_with(&format!("the output has {text:?} for metric time_s, which ")),
            "{reason}"
        );
        assert!(reason.ends_with(&format!("; the line is \"Time: {text}\"")), "{reason}");
    }
}

#[test]
fn a_query_leads_into_documents() {
    let fio =
        "fio: starting\n{\"jobs\": [{\"read\": {\"iops\": 89.5}}, {\"read\": {\"iops\": 0.5}}]}\n";
    let query = |text: &str| extract(Find::Json(text.into()));
    assert_eq!(read_from(&query("jobs[0].read.iops"), fio), Ok(89.5));
    assert!(read_from(&query("jobs[*].read.iops"), fio).unwrap_err().contains("fits 2 places"));
    let sum = Extract { which: Which::Sum, ..query("jobs[*].read.iops") };
    assert_eq!(read_from(&sum, fio), Ok(90.0));
    assert_eq!(read_from(&query("t"), "{\"t\": \"900us\"}"), Ok(900.0 * 1e-6));
    assert_eq!(read_from(&query("t"), "{\"t\": 1}\n{\"t\": 1.0}\n"), Ok(1.0));
    assert!(read_from(&query("t"), "{\"t\": true}").unwrap_err().contains("of type boolean"));
    assert!(read_from(&query("t"), "{\"u\": 1}").unwrap_err().contains("(JSON query t)"));
    assert!(read_from(&query("t"), "{\"t\": 1").unwrap_err().contains("no number"));
    assert_eq!(read_from(&query("t"), "{\"t\": 9007199254740993}"), Ok(9_007_199_254_740_992.0));
}

#[test]
fn a_column_is_found_by_its_header() {
    let column = |name: &str| extract(Find::Csv(name.into()));
    let table = "warming up, please wait\nname,ops,\"p99, us\"\na,5,7.5\n\nother\n";
    assert_eq!(read_from(&column("ops"), table), Ok(5.0));
    assert_eq!(read_from(&column("p99, us"), table), Ok(7.5));
    assert_eq!(read_from(&column("t"), "a\tt\nx\t1.5 ms\n"), Ok(1.5 * 1e-3));
    assert!(
        read_from(&column("t"), "a;t\nx;1,5\n")
            .unwrap_err()
            .contains("\"1,5\" for metric time_s, which may be more")
    );
    for which in [Which::Only, Which::Last] {
        let reason = read_from(&Extract { which, ..column("t") }, "t,t\n1,2\n").unwrap_err();
        assert!(
            reason.contains("the output has \"t,t\" for metric time_s, the name of two columns")
        );
    }
    let rows = "t\n1\n2\nt\n3\n";
    assert!(read_from(&column("t"), rows).unwrap_err().contains("fits 3 places"));
    assert_eq!(read_from(&Extract { which: Which::Mean, ..column("t") }, rows), Ok(2.0));
}

#[test]
fn a_row_is_found_by_what_stands_in_it() {
    let redis = "\"test\",\"rps\",\"avg\"\n\"SET\",\"43961\",\"0.5\"\n\"GET\",\"42553\",\"0.6\"\n";
    let rps = |row: &str| Extract { row: Some(row.into()), ..extract(Find::Csv("rps".into())) };
    assert_eq!(read_from(&rps("GET"), redis), Ok(42_553.0));
    assert_eq!(read_from(&rps("0.5"), redis), Ok(43_961.0));
    // The number itself does not name its row.
    let reason = read_from(&rps("43961"), redis).unwrap_err();
    assert!(reason.contains("(CSV column rps in the row 43961)"), "{reason}");
    let twice = format!("{redis}\"GET\",\"1\",\"2\"\n");
    assert!(read_from(&rps("GET"), &twice).unwrap_err().contains("fits 2 places"));
    let all = read_from(&extract(Find::Csv("rps".into())), redis).unwrap_err();
    assert!(all.contains("make it fit one, name its row, or say which"), "{all}");
}

#[test]
fn what_cannot_find_a_number_is_refused_before() {
    let of_pattern = |text: &str| objection(&Find::Pattern(text.into()));
    assert_eq!(of_pattern("Time: ([0-9.]+)"), None);
    assert_eq!(of_pattern(r"([0-9.]+)(?P<unit>\w+)"), None);
    for text in ["Time: [0-9.]+", "Time: (?:[0-9]+)", r"[0-9](?P<unit>\w+)"] {
        assert!(of_pattern(text).unwrap().starts_with("has no group"), "{text}");
    }
    for text in ["^([0-9]+", "(?<=a)([0-9]+)", "[", "*"] {
        assert!(of_pattern(text).unwrap().starts_with("is not a regular expression"), "{text}");
    }
    assert!(objection(&Find::Json("a[".into())).unwrap().starts_with("is not a JMESPath query"));
}

#[test]
fn every_number_of_a_file_is_listed_with_what_stands_beside_it() {
    let file = b"\x1b[1mbfs\x1b[0m run 1\nTime: 3568.1 ms\n\nbfs run 2\nTime: 3.6 s\n";
    let pattern = r"(?<arm>\w+) run (?<run>\d+)\nTime: ([0-9.]+) (?<unit>\w+)";
    let keys = |run: &str| [("arm", "bfs"), ("run", run)].map(|(k, v)| (k.into(), v.into())).into();
    assert_eq!(
        list(pattern, None, None, file).unwrap(),
        [(3568.1, 2, "1"), (3600.0, 5, "2")].map(|(value, line, run)| Listed {
            value,
            unit: "ms".into(),
            line,
            keys: keys(run)
        })
    );
    assert_eq!(list(pattern, Some("s"), None, file).unwrap()[1].value, 3.6);
    assert_eq!(list(r"Time: (?<value>[0-9.]+) (?<unit>m?s)", None, None, file).unwrap().len(), 2);
    assert_eq!(list(r"T: ([0-9,]+)", None, Some(','), b"T: 12,345").unwrap()[0].value, 12_345.0);
    assert_eq!(list("nothing (x)", None, None, file).unwrap(), []);
}

#[test]
fn what_may_be_another_number_is_not_listed() {
    for (pattern, text, why) in [
        (r"T: ([0-9]+)", "x\nT: 12,345", "line 2 has \"12\", cut out of"),
        (r"T: ([0-9.]+)", "T: 5 ms\nT: 6 ms", "line 1 has \"5\", in ms and not in"),
        (
            r"T: ([0-9.]+) (?<unit>\w+)",
            "T: 5 ms\nT: 6 J",
            "line 2 has \"6\", in \"J\", which cannot be converted",
        ),
        (r"T: [0-9]+", "T: 5", "the pattern has no group for the number"),
        (r"T: (", "T: 5", "the pattern is not a regular expression"),
    ] {
        let reason = list(pattern, None, None, text.as_bytes()).unwrap_err();
        assert!(reason.contains(why), "{reason}");
    }
}
