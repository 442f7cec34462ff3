use super::*;

#[test]
fn profiles_are_known_by_their_first_bytes_and_version() {
    let json = serde_json::to_string_pretty(&Profile::of(Usage::default())).unwrap();
    assert!(Profile::is_one(json.as_bytes()) && Profile::is_one(b"\n{ \"schema\" : \"rolecall-usage/v9\""));
    assert!(!Profile::is_one(b"{\"kind\":\"Event\"}") && !Profile::is_one(b""));
    assert_eq!(Profile::read(&mut json.as_bytes()).unwrap().usage().quality, LogQuality::default());
    let other = json.replace("/v0", "/v9");
    assert!(Profile::read(&mut other.as_bytes()).unwrap_err().contains("another version (`rolecall-usage/v9`)"));
    let cut = json.get(..json.len() / 2).unwrap();
    assert!(Profile::read(&mut cut.as_bytes()).unwrap_err().starts_with("not a usage profile"));
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let json = format!("\u{feff}{}", serde_json::to_string(&Profile::of(Usage::default())).unwrap());
    assert!(Profile::is_one(json.as_bytes()) && Profile::read(&mut json.as_bytes()).is_ok());
}
