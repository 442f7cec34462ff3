//! Judges each subject: what it holds against what it used. Facts of one package and a Usage profile come in,
//! an [`Assessment`] per subject goes out; rules and reports read only that.

mod assessment;

pub use assessment::*;
