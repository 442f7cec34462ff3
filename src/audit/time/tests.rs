use super::*;

#[test]
fn times_compare_by_what_they_say() {
    let before = |a: &str, b: &str| Time::of(a) < Time::of(b);
    assert!(before("2026-12-01T00:00:00.000001Z", "2026-12-01T00:00:00.000002Z"));
    assert!(before("2026-12-01T00:00:07Z", "2026-12-01T00:00:07.5Z"));
    assert!(before("2026-12-01T00:00:07.461683Z", "2026-12-01T00:00:07.5Z"));
    assert!(before("2026-12-01T00:00:07.9Z", "2026-12-01T00:00:08Z"));
    assert!(!before("2026-12-01T00:00:08Z", "2026-12-01T00:00:07.9Z"));
}

#[test]
fn text_too_long_for_a_time_is_none() {
    assert_eq!(Time::of("2026-12-01T00:00:07.461683Z").text(), "2026-12-01T00:00:07.461683Z");
    assert!(Time::of(&"9".repeat(32)).is_none());
    assert!(Time::of("").is_none());
}
