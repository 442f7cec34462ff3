//! Runs what renders a chart or kustomization, when the user asks for it: a program and its arguments, never a shell.

use std::io::{ErrorKind, Read};
use std::process::{Command, Stdio};

use super::discover::{MAX_BYTES, too_large};

/// What is kept of what a program says of its failure.
const MAX_WORDS: usize = 400;

/// What the command prints; why not, when it fails.
pub fn render(command: &[String]) -> Result<String, String> {
    let Some((program, arguments)) = command.split_first() else { return Err("no command".to_owned()) };
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("`{program}` is not installed"),
        _ => format!("`{program}` does not start: {error}"),
    })?;
    // Read beside the output, or a program that says much waits for ever.
    let stderr = child.stderr.take();
    let words = std::thread::spawn(move || stderr.map(|stream| all_of(stream, 1 << 20)).unwrap_or_default());
    let output = child.stdout.take().map(|stream| all_of(stream, MAX_BYTES + 1)).unwrap_or_default();
    if output.len() as u64 > MAX_BYTES {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("what `{program}` prints is {}", too_large()));
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&output).into_owned());
    }
    let words =
        String::from_utf8_lossy(&words.join().unwrap_or_default()).split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = if words.chars().nth(MAX_WORDS).is_some() { "..." } else { "" };
    Err(format!("`{program}` failed ({status}): {}{cut}", words.chars().take(MAX_WORDS).collect::<String>()))
}

/// What can be read of a stream within a limit; the rest is not read.
fn all_of(stream: impl Read, limit: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What was printed before an error still counts; the exit code tells.
    let _ = stream.take(limit).read_to_end(&mut bytes);
    bytes
}
