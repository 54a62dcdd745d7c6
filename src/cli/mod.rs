//! The command line: flags become commands.
