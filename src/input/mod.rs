//! Files, directories and standard input → texts and log readers: the only place that reads disk.
