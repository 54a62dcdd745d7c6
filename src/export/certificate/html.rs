//! The certificate as one page of HTML to print: complete in itself, no scripts, nothing loaded from elsewhere.

use std::fmt::Write as _;
use std::path::Path;

use super::{
    Certificate, CheckCost, Guarantee, NoiseKind, NotAccounted, NotProtected, Sampling, Spending, Stop,
    Verdict,
};
use crate::export::ExportError;
use crate::export::atomic::write_atomically;
use crate::num::RandomOrigin;
use crate::privacy::meaning::{Language, caveats};
use crate::privacy::{CountedEvent, EventList, Neighboring};

/// The most events listed; the JSON file has all.
const MOST_EVENTS: usize = 8;

/// The most items of another list.
const MOST_ITEMS: usize = 12;

/// Colours and sizes; the page prints on one side of A4 or Letter.
const STYLE: &str = "\
@page{margin:14mm}\
*{box-sizing:border-box}\
body{font:10pt/1.4 system-ui,-apple-system,'Segoe UI','Noto Sans',sans-serif;color:#23211d;background:#fff;\
max-width:190mm;margin:8mm auto;padding:0 6mm}\
header{border-bottom:2px solid #23211d;margin-bottom:4mm;padding-bottom:2mm}\
h1{font-size:17pt;margin:0}\
h2{font-size:9pt;letter-spacing:.06em;text-transform:uppercase;color:#6b665c;margin:4mm 0 1mm}\
.verdict{font-size:12pt;padding:3mm 4mm;border-left:2mm solid #2f7d4f;background:#eef6f0;margin:3mm 0}\
.verdict.none{border-color:#b3261e;background:#fbeeed}\
.big{font-size:15pt;font-variant-numeric:tabular-nums}\
table{border-collapse:collapse;width:100%}\
td,th{text-align:left;vertical-align:top;padding:.6mm 3mm .6mm 0;border-bottom:1px solid #e6e2da}\
th{font-weight:600;width:42mm;color:#4a463f}\
ul{margin:0;padding-left:5mm}\
code{font:8.5pt/1.35 ui-monospace,'DejaVu Sans Mono',monospace;overflow-wrap:anywhere}\
footer{margin-top:4mm;color:#6b665c;font-size:8.5pt}\
@media print{body{margin:0;padding:0}}";

fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

/// A page in the making.
#[derive(Default)]
struct Page(String);

impl Page {
    fn push(&mut self, html: &str) {
        self.0.push_str(html);
    }

    fn heading(&mut self, text: &str) {
        self.0.push_str("<h2>");
        self.0.push_str(&escape(text));
        self.0.push_str("</h2>\n");
    }

    fn rows<'a>(&mut self, rows: impl IntoIterator<Item = (&'a str, String)>) {
        self.push("<table>\n");
        for (name, value) in rows {
            // Writing to a string cannot fail, here and below.
            let _ = writeln!(
                self.0,
                "<tr><th scope=\"row\">{}</th><td>{}</td></tr>",
                escape(name),
                escape(&value)
            );
        }
        self.push("</table>\n");
    }

    fn list(&mut self, items: &[String], most: usize) {
        self.push("<ul>\n");
        for item in items.iter().take(most) {
            let _ = writeln!(self.0, "<li>{}</li>", escape(item));
        }
        if items.len() > most {
            let _ = writeln!(
                self.0,
                "<li>and {} more: see the JSON file</li>",
                items.len() - most
            );
        }
        self.push("</ul>\n");
    }
}

impl Certificate {
    /// The page.
    pub fn to_html(&self) -> String {
        let mut page = Page::default();
        page.push("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        page.push("<meta name=\"viewport\" content=\"width=device-width\">\n");
        let _ = writeln!(
            page.0,
            "<title>Privacy certificate: {}</title>",
            escape(&self.synthetic_file.name)
        );
        let _ = writeln!(page.0, "<style>{STYLE}</style>\n</head>\n<body>");
        let _ = writeln!(
            page.0,
            "<header><h1>Privacy certificate</h1>{} · issued {}</header>",
            escape(&self.synthetic_file.name),
            escape(&self.issued)
        );
        self.put_verdict(&mut page);
        self.put_promise(&mut page);
        self.put_limits(&mut page);
        self.put_events(&mut page);
        self.put_checks(&mut page);
        if let Some(spending) = &self.spending {
            put_spending(spending, &mut page);
        }
        page.heading("Files");
        page.rows([
            (
                "Data set",
                named(
                    &self.data_set.name,
                    &self.data_set.description,
                    self.data_set.public,
                ),
            ),
            (
                "Synthetic file",
                format!(
                    "{}, {} rows, {} bytes",
                    self.synthetic_file.name, self.synthetic_file.rows, self.synthetic_file.bytes
                ),
            ),
            ("SHA-256", self.synthetic_file.sha256.clone()),
            ("Digest of this certificate", self.digest.clone()),
        ]);
        let software: Vec<_> = self
            .software
            .iter()
            .map(|part| format!("{} {}", part.name, part.version))
            .collect();
        let _ = writeln!(
            page.0,
            "<footer>{}. Anyone can recompute ε from the events in the JSON file: <code>pointillist verify</code>. \
             ε in nats. {}</footer>",
            escape(&software.join(", ")),
            escape(&caveats(Language::English).join(" "))
        );
        page.push("</body>\n</html>\n");
        page.0
    }

    fn put_verdict(&self, page: &mut Page) {
        match (&self.verdict, &self.guarantee) {
            (Verdict::DifferentiallyPrivate, Some(guarantee)) => {
                let _ = writeln!(
                    page.0,
                    "<div class=\"verdict\"><span class=\"big\">ε = {} at δ = {:e}</span><br>{}</div>",
                    rounded_up(guarantee.epsilon),
                    guarantee.delta,
                    escape(self.odds.as_ref().map_or("", |odds| &odds.sentence))
                );
            }
            (verdict, _) => {
                page.push("<div class=\"verdict none\"><span class=\"big\">No DP claim</span>\n");
                let reasons: Vec<_> = verdict.reasons().iter().map(ToString::to_string).collect();
                page.list(&reasons, MOST_ITEMS);
                page.push("</div>\n");
            }
        }
    }

    fn put_promise(&self, page: &mut Page) {
        page.heading("Promise");
        let missing = || "not stated".to_owned();
        let mut rows = vec![
            (
                "Unit of privacy",
                self.unit.as_ref().map_or_else(missing, ToString::to_string),
            ),
            (
                "Neighbouring data sets",
                self.relation
                    .map_or_else(missing, |relation| relation_in_words(relation).into()),
            ),
        ];
        if let Some(guarantee) = &self.guarantee {
            rows.push((
                "ε to all digits",
                format!("{} at δ = {:e}", guarantee.epsilon, guarantee.delta),
            ));
            rows.push(("Accountant", accountant_in_words(guarantee)));
        }
        if let Some(odds) = &self.odds {
            rows.push((
                "Strongest attacker",
                format!(
                    "advantage over guessing at most {}; finds at most {} of those present at 1 % false alarms, {} at 0.1 %",
                    percent(odds.advantage),
                    percent(odds.tpr_at_fpr_1_percent),
                    percent(odds.tpr_at_fpr_0_1_percent)
                ),
            ));
        }
        rows.push((
            "Random bits",
            self.random_source.map_or_else(missing, random_in_words),
        ));
        rows.push((
            "Sampling",
            self.sampling
                .map_or_else(missing, |sampling| sampling_in_words(sampling).into()),
        ));
        let noise: Vec<_> = self.noise.iter().map(|kind| noise_in_words(*kind)).collect();
        if !noise.is_empty() {
            rows.push(("Noise", noise.join("; ")));
        }
        if let Some(stop) = self.stop {
            rows.push(("End", stop_in_words(stop).into()));
        }
        page.rows(rows);
    }

    fn put_limits(&self, page: &mut Page) {
        page.heading("Not protected");
        let items: Vec<_> = self.not_protected.iter().map(not_protected_in_words).collect();
        if items.is_empty() {
            page.push("<p>Nothing is listed.</p>\n");
        } else {
            page.list(&items, MOST_ITEMS);
        }
        page.heading("Not accounted");
        let items: Vec<_> = self
            .not_accounted
            .iter()
            .map(|item| not_accounted_in_words(*item).into())
            .collect();
        if items.is_empty() {
            page.push("<p>Nothing is listed.</p>\n");
        } else {
            page.list(&items, MOST_ITEMS);
        }
    }

    fn put_events(&self, page: &mut Page) {
        let Some(EventList { events, .. }) = &self.events else {
            return;
        };
        page.heading("What was done to the private data");
        let items: Vec<_> = events.iter().map(event_in_words).collect();
        page.list(&items, MOST_EVENTS);
    }

    fn put_checks(&self, page: &mut Page) {
        if self.checks.is_empty() {
            return;
        }
        page.heading("Checks");
        let items: Vec<_> = self
            .checks
            .iter()
            .map(|check| {
                let interval = check
                    .interval
                    .map_or_else(String::new, |[low, high]| format!(" (95 %: {low} to {high})"));
                let cost = match check.cost {
                    CheckCost::Free => "from released values",
                    CheckCost::Bought => "paid for, among the events",
                };
                format!("{}: {}{interval}, {cost}", check.name, check.value)
            })
            .collect();
        page.list(&items, MOST_ITEMS);
    }
}

fn put_spending(spending: &Spending, page: &mut Page) {
    page.heading("Spending");
    let charge =
        |charge: &crate::privacy::ledger::Charge| format!("ε {} δ {:e}", charge.epsilon, charge.delta);
    let total = match (&spending.total, spending.left) {
        (Some(total), Some(left)) => format!("{}, {} left", charge(total), percent(left)),
        _ => "none set".to_owned(),
    };
    page.rows([
        (
            "This job",
            format!(
                "reserved {}, charged {}",
                charge(&spending.reserved),
                charge(&spending.spent)
            ),
        ),
        ("All jobs, added up", charge(&spending.data_set_spent)),
        ("Total of the data set", total),
        (
            "Runs of which nothing was kept",
            spending.discarded_runs.to_string(),
        ),
        (
            "Ledger",
            format!(
                "entry {} of {}, ending in {}; {}",
                spending.ledger_entry, spending.ledger_entries, spending.ledger_head, spending.scope
            ),
        ),
    ]);
}

fn named(name: &str, description: &str, is_public: bool) -> String {
    let public = if is_public { " (public teaching data)" } else { "" };
    if description.is_empty() {
        format!("{name}{public}")
    } else {
        format!("{name}{public}: {description}")
    }
}

/// Three decimals, never below the number itself.
fn rounded_up(value: f64) -> String {
    format!("{:.3}", (value * 1000.0 - 1e-9).ceil() / 1000.0)
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn relation_in_words(relation: Neighboring) -> &'static str {
    match relation {
        Neighboring::AddRemoveOne => "one unit more or less (add/remove one)",
        Neighboring::ZeroOutOne => {
            "one unit's contribution made zero; the number of rows is public (zero out one)"
        }
        Neighboring::ReplaceOne => "one unit exchanged for another (replace one)",
    }
}

fn accountant_in_words(guarantee: &Guarantee) -> String {
    let mut text = match guarantee.accountant {
        crate::privacy::AccountantKind::Pld => "privacy loss distributions".to_owned(),
        crate::privacy::AccountantKind::Rdp => "Rényi divergences".to_owned(),
    };
    let _ = write!(text, ", version {}", guarantee.accountant_version);
    if let Some(rho) = guarantee.rho {
        let _ = write!(text, "; ρ = {rho}");
    }
    if let Some(mu) = guarantee.mu {
        let _ = write!(text, "; μ = {mu}");
    }
    text
}

fn random_in_words(origin: RandomOrigin) -> String {
    match origin {
        RandomOrigin::OperatingSystem => "from the operating system".into(),
        RandomOrigin::Seeded(seed) => format!("from the fixed seed {seed}: not private"),
    }
}

fn sampling_in_words(sampling: Sampling) -> &'static str {
    match sampling {
        Sampling::AllRows => "every mechanism saw all rows",
        Sampling::Poisson => "each row entered each step by its own coin (Poisson)",
        Sampling::FixedSize => "batches of a fixed size, drawn anew for each step",
        Sampling::Shuffled => "shuffled passes, without amplification",
        Sampling::RowDraws => "each generated row drew its critic",
        Sampling::RoundRobin => "critics on a public rota",
    }
}

fn noise_in_words(kind: NoiseKind) -> &'static str {
    match kind {
        NoiseKind::FloatingPointGaussian => "Gaussian, in floating-point numbers",
        NoiseKind::DiscreteGaussian => "discrete Gaussian on a grid",
        NoiseKind::DiscreteLaplace => "discrete Laplace on a grid",
        NoiseKind::Exponential => "selection by the exponential mechanism",
    }
}

fn stop_in_words(stop: Stop) -> &'static str {
    match stop {
        Stop::Planned => "as planned",
        Stop::BudgetReached => "the budget was used up",
        Stop::Milestone => "at a milestone of the plan, chosen by released quantities",
        Stop::ByPerson => "stopped by a person; the whole plan is charged",
    }
}

fn not_protected_in_words(item: &NotProtected) -> String {
    match item {
        NotProtected::AcceptedDomain { column } => {
            format!("bounds or values of the column \"{column}\": read off private rows and let stand")
        }
        NotProtected::RowCount => {
            "the number of rows: used as it is, and revealed by the sampling rate".into()
        }
        NotProtected::FloatingPointNoise => {
            "the lowest digits of floating-point noise, which the proofs take to be real numbers".into()
        }
    }
}

fn not_accounted_in_words(item: NotAccounted) -> &'static str {
    match item {
        NotAccounted::Tuning => "settings may have been chosen with private figures of earlier runs in view",
        NotAccounted::Looking => "figures computed on private rows without noise were shown while it trained",
        NotAccounted::CheckpointChoice => "the checkpoint was chosen with private figures in view",
        NotAccounted::MomentOfStopping => {
            "the moment of stopping was chosen with private plots in view: not accounted"
        }
    }
}

/// An event by its type and parameters, as in the JSON file.
fn event_in_words(counted: &CountedEvent) -> String {
    let parameters = match serde_json::to_value(&counted.event) {
        Ok(serde_json::Value::Object(fields)) => fields
            .iter()
            .filter(|(name, _)| *name != "type")
            .map(|(name, value)| format!("{} {value}", name.replace('_', " ")))
            .collect::<Vec<_>>()
            .join(", "),
        _ => String::new(),
    };
    let times = if counted.count == 1 {
        String::new()
    } else {
        format!("{} × ", counted.count)
    };
    format!("{times}{}: {parameters}", counted.event.name().replace('_', " "))
}

/// Writes the page, whole or not at all.
///
/// # Errors
/// When the file cannot be written.
pub fn write_certificate_page(
    path: &Path,
    certificate: &Certificate,
    overwrite: bool,
) -> Result<(), ExportError> {
    write_atomically(path, certificate.to_html().as_bytes(), overwrite)
}
