//! Neighbouring relations, events, accountants, calibration, mechanisms, the ledger, and what ε means. Knows no data and no Burn, so it can be reviewed alone.
