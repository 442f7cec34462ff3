use super::*;

#[test]
fn the_first_bytes_tell_how_a_log_is_cut() {
    let long = format!("{{\"kind\":\"Event\",\"x\":\"{}", "x".repeat(100));
    let records = format!("{{\"records\":[{{\"x\":\"{}", "x".repeat(100));
    for (head, expected) in [
        ("", Framing::Lines),
        ("\n {\"a\":1}\n{\"b\":1}\n", Framing::Lines),
        ("{\"a\":1} \r\n{\"b\":1}\r\n", Framing::Lines),
        ("{\"a\":1}\n{\n", Framing::Values),
        ("{\"a\":1}{\"b\":1}", Framing::Values),
        ("{\"a\":1},\n{\"b\":1}", Framing::Values),
        ("{\n\"a\":1}", Framing::Values),
        (" [", Framing::Values),
        (&long, Framing::Lines),
        (&records, Framing::Values),
        ("{\"a\":{\"b\n{\"a\":1}\n", Framing::Lines),
        ("{\"a\":{\n{\"a\":1}\n", Framing::Lines),
        ("node-1 {\"a\":1}", Framing::Lines),
        ("2024-01-01T00:00:00Z stdout F {", Framing::Lines),
        ("I0101 00:00:00.000000 1 x.go:1] up: {", Framing::Lines),
        ("# saved\nkind: Event\n", Framing::Documents),
        ("---\ninsertId: x\n", Framing::Documents),
        ("- kind: Event\n", Framing::Documents),
        ("@timestamp,@message\n2024,\"{}\"", Framing::Rows),
        ("a,b\n1,2", Framing::Lines),
    ] {
        assert_eq!(framing(head.as_bytes()), expected, "{head}");
    }
}
