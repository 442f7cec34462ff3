//! The oracle process: a question a line, an answer a line.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

/// A running oracle; it ends with its standard input.
#[derive(Debug)]
pub(crate) struct Oracle {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// The folder of the built control plane: `KUBEBUILDER_ASSETS`, else `.build/assets`.
pub(crate) fn assets() -> PathBuf {
    match std::env::var_os("KUBEBUILDER_ASSETS") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join(".build/assets"),
    }
}

impl Oracle {
    /// Starts the oracle; `None` with a printed reason when it was not built.
    pub(crate) fn start() -> Option<Self> {
        let program = assets().join("oracle");
        if !program.exists() {
            println!(
                "skipped: {} is not built (tests/control-plane/build needs Go and ten minutes)",
                program.display()
            );
            return None;
        }
        let mut process =
            Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the oracle starts");
        let (questions, answers) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Some(Self { process, questions, answers: BufReader::with_capacity(1 << 20, answers) })
    }

    /// Asks one question.
    pub(crate) fn ask(&mut self, question: &Value) -> Value {
        let mut line = serde_json::to_vec(question).unwrap();
        line.push(b'\n');
        self.questions.write_all(&line).expect("the oracle listens");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("the oracle answers");
        let answer: Value = serde_json::from_str(&answer).expect("an answer in JSON");
        assert!(answer.get("error").is_none(), "{answer} to {question}");
        answer
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        // Waited for, so that no process is left when a test fails.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
