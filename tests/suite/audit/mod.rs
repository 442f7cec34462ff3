//! Audit logs recorded on a real API server, and small ones with known answers, read through the public
//! interface. The data lie beside the repository; without them these tests say so and pass.

mod fuzzed;
mod inputs;
mod micro;
mod peers;
mod pitfalls;
mod public;
mod recorded;
mod shapes;
mod twins;
