use std::collections::BTreeSet;

use super::*;

#[test]
fn every_line_of_the_data_is_a_control_and_none_twice() {
    assert_eq!(all().len(), DATA.lines().count());
    let ids: BTreeSet<_> = all().iter().map(|control| (control.framework, control.id)).collect();
    assert_eq!(ids.len(), all().len());
    assert!(all().iter().all(|control| !control.gist.is_empty()));
}

#[test]
fn ids_are_shown_as_people_write_them() {
    assert_eq!(Framework::Nist80053.display("AC-6(1)"), "AC-6(1)");
    assert_eq!(Framework::Cis8.display("6.8"), "CIS 6.8");
    assert_eq!(lookup(Framework::Csf2, "PR.AA-05").map(|control| control.framework), Some(Framework::Csf2));
    assert_eq!(lookup(Framework::Csf2, "AC-6"), None);
}
