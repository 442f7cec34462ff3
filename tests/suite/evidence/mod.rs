//! Verdicts and generated roles against what real projects took away, had to give back, and what a worse log may never
//! turn into a sure "unused". Logs are synthesised from roles: how, stands in `synthesised`.

mod degraded;
mod excess;
mod other_runs;
mod regressions;
mod round_trip;
mod synthesised;
