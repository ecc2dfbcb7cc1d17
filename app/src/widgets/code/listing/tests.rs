//! Tests of listings by keyboard and label, and of their pictures.

use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use super::*;
use crate::testing;
use crate::theme::ThemeName;

struct Desk {
    view: CodeListing,
    listing: Listing,
    source: Option<usize>,
    chosen: Option<usize>,
}

fn column(title: &str, width: usize, side: Side) -> Column {
    Column { title: title.to_owned(), width, side }
}

const CODE: &[(&str, usize)] = &[
    ("MOV R1, c[0x0][0x28] ;", 12),
    ("S2R R0, SR_CTAID.X ;", 12),
    ("ULDC.64 UR4, c[0x0][0x118] ;", 13),
    ("S2R R3, SR_TID.X ;", 12),
    ("IMAD R0, R0, c[0x0][0x0], R3 ;", 13),
    ("ISETP.GE.AND P0, PT, R0, c[0x0][0x170], PT ;", 14),
    ("@P0 EXIT ;", 14),
    ("IMAD.WIDE R2, R0, R5, c[0x0][0x160] ;", 16),
    ("LDG.E.128.CONSTANT R4, desc[UR4][R2.64+0x10] ;", 16),
    ("FMNMX R8, R4, R5, !PT ;", 17),
    ("SHFL.BFLY PT, R9, R8, 0x10, 0x1f ;", 18),
    ("FMNMX R8, R8, R9, !PT ;", 18),
    ("@!P1 BRA `(.L_x_3) ;", 19),
    ("MUFU.EX2 R10, R10 ;", 21),
    ("FFMA R11, R10.reuse, 1.4426950216293335, -R8 ;", 21),
    ("STG.E.128 desc[UR4][R2.64], R4 ;", 24),
];

fn listing(rows: usize) -> Listing {
    let row = |number: usize| {
        let (text, source) = CODE[number % CODE.len()];
        let count = (number * 37) % 100;
        let cells = [
            (format!("{number}"), None),
            (format!("{:04x}", number * 16), None),
            (format!("{count}"), Some(count as f32 / 100.0)),
        ];
        Row {
            text: text.to_owned(),
            cells: cells.map(|(text, heat)| Cell { text, heat }).to_vec(),
            source: Some(source),
            hover: String::new(),
        }
    };
    Listing {
        language: Language::Sass,
        generation: 1,
        columns: vec![
            column("Row", 6, Side::Right),
            column("Address", 7, Side::Left),
            column("Issued", 6, Side::Right),
        ],
        title: "Instruction".to_owned(),
        rows: (0..rows).map(row).collect(),
    }
}

fn desk(theme: ThemeName, rows: usize) -> Harness<'static, Desk> {
    let desk = Desk {
        view: CodeListing::new("Machine code"),
        listing: listing(rows),
        source: None,
        chosen: None,
    };
    testing::harness(theme, [760.0, 420.0], desk, |ui, desk| {
        let answer = desk.view.show(ui, &desk.listing, desk.source);
        desk.chosen = answer.chosen.or(desk.chosen);
    })
}

#[test]
fn rows_are_chosen_with_pointer_and_keys() {
    let mut harness = desk(ThemeName::Dark, 100_000);
    harness.get_all_by_label("@P0 EXIT ;").next().unwrap().click();
    harness.run();
    assert_eq!(harness.state().chosen, Some(6));
    harness.key_press(Key::ArrowDown);
    harness.run();
    harness.key_press_modifiers(Modifiers::SHIFT, Key::ArrowDown);
    harness.run();
    assert_eq!(harness.state().view.selected(), Some(7..9));
    harness.event(egui::Event::Copy);
    harness.step();
    let copied = harness.output().platform_output.commands.iter().any(|command| {
        matches!(command, egui::OutputCommand::CopyText(text)
            if text.starts_with("IMAD.WIDE") && text.ends_with("0x10] ;"))
    });
    assert!(copied, "{:?}", harness.output().platform_output.commands);
    harness.key_press(Key::End);
    harness.run();
    assert_eq!(harness.state().chosen, Some(99_999));
    assert!(harness.get_all_by_label("STG.E.128 desc[UR4][R2.64], R4 ;").count() > 0);
}

#[test]
fn rows_are_found() {
    let mut harness = desk(ThemeName::Dark, 64);
    harness.get_all_by_label("@P0 EXIT ;").next().unwrap().click();
    harness.run();
    harness.key_press_modifiers(Modifiers::COMMAND, Key::F);
    harness.run();
    harness.get_by_label("Find").type_text("mufu");
    harness.run();
    harness.get_by_label("1 of 4");
    assert_eq!(harness.state().view.selected(), Some(13..14));
    harness.get_by_label("Next match").click();
    harness.run();
    assert_eq!(harness.state().view.selected(), Some(29..30));
    harness.get_by_label("Close find").click();
    harness.run();
    assert!(harness.query_by_label("Find").is_none());
}

#[test]
fn a_source_line_is_scrolled_to() {
    let mut harness = desk(ThemeName::Dark, 5_000);
    let desk = harness.state_mut();
    desk.listing.rows[4_000].source = Some(77);
    "NOP ;".clone_into(&mut desk.listing.rows[4_000].text);
    assert!(!desk.view.scroll_to_source(&desk.listing, 78));
    assert!(desk.view.scroll_to_source(&desk.listing, 77));
    harness.run();
    harness.get_by_label("NOP ;");
}

#[test]
fn it_looks_like_this() {
    for theme in ThemeName::ALL {
        let mut harness = desk(theme, 1_000);
        harness.state_mut().source = Some(16);
        harness.get_by_label("FMNMX R8, R8, R9, !PT ;").click();
        harness.run();
        testing::snapshot(&harness, "listing");
    }
}

#[test]
fn what_compilers_write_is_read() {
    let texts = [
        (Language::Ptx, include_str!("../../../../../tests/ptx/modules/attention-90-f.ptx"), "ptx"),
        (Language::Sass, include_str!("../../../../../core/compile/src/sass/inlined.sass"), "sass"),
    ];
    for (language, text, name) in texts {
        let listing = Listing {
            language,
            generation: 2,
            columns: Vec::new(),
            title: "Text".to_owned(),
            rows: text.lines().map(Row::from_line).collect(),
        };
        for row in &listing.rows {
            let spans = crate::widgets::code::syntax::spans_of_line(language, &row.text);
            assert!(row.text.trim().is_empty() || !spans.is_empty(), "{}", row.text);
        }
        let mut harness = desk(ThemeName::Dark, 1);
        harness.state_mut().view.scroll_to_row(listing.rows.len() / 2);
        harness.state_mut().listing = listing;
        harness.run();
        testing::snapshot(&harness, &format!("listing-{name}"));
    }
}

#[test]
fn tabs_reach_to_the_next_stop() {
    let check = |line: &str, expected: &str| assert_eq!(Row::from_line(line).text, expected);
    check("\tret;", "        ret;");
    check("\tmov.u32 \t%r1", "        mov.u32         %r1");
    check("é\tx", "é       x");
    check("", "");
}
