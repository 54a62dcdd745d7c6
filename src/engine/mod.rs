//! One queue of commands in, one stream of events and one latest snapshot out; the workers behind them.
