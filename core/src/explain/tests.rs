//! Every number has a card, every name belongs to one number, and every technique is reachable.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::virtual_gpu::cost::metrics;

#[test]
fn every_counter_has_a_card_and_every_card_of_a_counter_is_one() {
    let explained: Vec<&str> =
        explanations().counters.iter().map(|each| each.name.as_str()).collect();
    let counted: Vec<&str> = metrics().map(|each| each.name).collect();
    assert_eq!(explained, counted);
}

#[test]
fn no_two_cards_share_a_name() {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for card in cards() {
        // What Nsight calls alike may be counted in two ways.
        for name in [card.name].into_iter().chain(card.also.iter().map(String::as_str)) {
            let other = seen.insert(normalised(name), card.name);
            assert_eq!(other, None, "`{name}` of `{}`", card.name);
        }
    }
}

#[test]
fn every_card_says_everything() {
    for card in cards() {
        for (field, text) in [
            ("unit", card.unit),
            ("shown", card.shown),
            ("what", card.what),
            ("formula", card.formula),
            ("good", card.good),
        ] {
            assert!(!text.trim().is_empty(), "{field} of {}", card.name);
        }
        assert!(card.what.ends_with('.') && card.good.ends_with('.'), "{}", card.name);
    }
}

#[test]
fn every_technique_speaks_of_a_number() {
    let reached: BTreeSet<&str> =
        cards().flat_map(|card| card.techniques().map(|each| each.id.as_str())).collect();
    let all = playbook().techniques.iter().map(|each| each.id.as_str());
    let unreached: Vec<&str> = all.filter(|id| !reached.contains(id)).collect();
    assert_eq!(unreached, Vec::<&str>::new());
}

#[test]
fn a_number_is_found_by_any_of_its_names() {
    let check = |name: &str, expected: &str| {
        assert_eq!(card(name).map(|card| card.name).ok(), Some(expected), "{name}");
    };
    check("occupancy", "occupancy");
    check("Occupancy", "occupancy");
    check(" blocks per SM ", "blocks/SM");
    check("blocks_per_sm", "blocks/SM");
    check("speed-of-light", "standing");
    check("warp_instructions", "warp_instructions");
    check("smsp__inst_executed.sum", "warp_instructions");
    check("±", "interval");
}

#[test]
fn a_name_that_is_misspelt_has_a_nearest() {
    let check = |name: &str, expected: Option<&str>| {
        let unknown = card(name).err().unwrap();
        assert_eq!(unknown.nearest, expected, "{name}");
    };
    check("ocupancy", Some("occupancy"));
    check("warp_instruction", Some("warp_instructions"));
    check("registrs", Some("registers"));
    check("", None);
    check("☃", None);
}

#[test]
fn techniques_are_those_whose_evidence_it_is() {
    let ids = |name: &str| -> Vec<&str> {
        card(name).unwrap().techniques().map(|each| each.id.as_str()).collect()
    };
    assert_eq!(ids("shared_bank_conflicts"), ["pad-shared-memory"]);
    assert_eq!(ids("spills"), ["no-spills"]);
    assert!(ids("load_sectors_per_request").contains(&"coalesce-loads"));
    assert!(ids("seed").is_empty());
}
