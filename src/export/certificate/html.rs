//! The certificate as one page of HTML to print: complete in itself, no scripts, nothing loaded from elsewhere.

mod page;
mod words;

use std::fmt::Write as _;
use std::path::Path;

use self::page::{Page, STYLE, escape};
use self::words::Words;
use super::{Certificate, DataSet, Guarantee, Odds, Spending, Verdict};
use crate::export::ExportError;
use crate::export::atomic::write_atomically;
use crate::privacy::meaning::{Language, Meaning, caveats};
use crate::privacy::{CountedEvent, EventList};

/// The most events listed; the JSON file has all.
const MOST_EVENTS: usize = 8;

/// The most items of another list.
const MOST_ITEMS: usize = 12;

impl Certificate {
    /// The page: every language in it, the given one in view and printed. A reader changes it with the two words
    /// at the top.
    pub fn to_html(&self, first: Language) -> String {
        let words = |language| Words {
            language,
            hidden: self.hidden(),
            records: self.records.unwrap_or_default(),
        };
        let mut page = Page {
            html: String::new(),
            words: words(first),
        };
        page.push("<!doctype html>\n<html lang=\"");
        page.push(tag(first));
        page.push("\">\n<head>\n<meta charset=\"utf-8\">\n");
        page.push("<meta name=\"viewport\" content=\"width=device-width\">\n");
        let _ = writeln!(
            page.html,
            "<title>{}: {}</title>",
            page.words.say("Privacy certificate", "隐私证书"),
            escape(&self.synthetic_file.name)
        );
        let _ = writeln!(page.html, "<style>{STYLE}</style>\n</head>\n<body>");
        for (language, id, name) in [
            (Language::English, "en", "English"),
            (Language::Chinese, "zh", "中文"),
        ] {
            let checked = if language == first { " checked" } else { "" };
            let _ = writeln!(
                page.html,
                "<input type=\"radio\" name=\"language\" id=\"{id}\"{checked}><label for=\"{id}\" lang=\"{}\">{name}</label>",
                tag(language)
            );
        }
        self.put_page(&mut page, words(Language::English));
        self.put_page(&mut page, words(Language::Chinese));
        page.push("</body>\n</html>\n");
        page.html
    }

    /// The whole page in one language.
    fn put_page(&self, page: &mut Page, words: Words) {
        page.words = words;
        let class = words.say("en", "zh");
        let _ = writeln!(
            page.html,
            "<main class=\"{class}\" lang=\"{}\">",
            tag(words.language)
        );
        let _ = writeln!(
            page.html,
            "<header><h1>{}</h1>{} · {} {}</header>",
            words.say("Privacy certificate", "隐私证书"),
            escape(&self.synthetic_file.name),
            words.say("issued", "签发于"),
            escape(&self.issued)
        );
        self.put_verdict(page);
        self.put_promise(page);
        self.put_limits(page);
        self.put_events(page);
        self.put_checks(page);
        if let Some(spending) = &self.spending {
            put_spending(spending, page);
        }
        self.put_files(page);
        let software: Vec<_> = self
            .software
            .iter()
            .map(|part| format!("{} {}", part.name, part.version))
            .collect();
        let anyone = words.say(
            "Anyone can recompute ε from the events in the JSON file: <code>pointillist verify</code>. ε in nats.",
            "任何人都可以由 JSON 文件中的事件重新算出 ε：<code>pointillist verify</code>。ε 以奈特为单位。",
        );
        let _ = writeln!(
            page.html,
            "<footer>{}{} {anyone} {}</footer>\n</main>",
            escape(&software.join(", ")),
            words.say(".", "。"),
            escape(&caveats(words.language, words.hidden).join(words.say(" ", "")))
        );
    }

    fn put_files(&self, page: &mut Page) {
        let words = page.words;
        page.heading(words.say("Files", "文件"));
        let file = &self.synthetic_file;
        let size = match words.language {
            Language::English => format!("{}, {}, {} bytes", file.name, words.count(file.rows), file.bytes),
            Language::Chinese => format!("{}，{}，{} 字节", file.name, words.count(file.rows), file.bytes),
        };
        page.rows([
            (words.say("Data set", "数据集"), named(words, &self.data_set)),
            (words.say("Synthetic file", "合成文件"), size),
            ("SHA-256", file.sha256.clone()),
            (
                words.say("Digest of this certificate", "本证书的摘要"),
                self.digest.clone(),
            ),
        ]);
    }

    fn put_verdict(&self, page: &mut Page) {
        let words = page.words;
        match (&self.verdict, &self.guarantee) {
            (Verdict::DifferentiallyPrivate, Some(guarantee)) => {
                let points = guarantee.profile.iter();
                let profile = points.map(|point| (point.epsilon, point.delta)).collect();
                let sentence = match (words.language, &self.odds) {
                    (_, None) => String::new(),
                    (Language::English, Some(odds)) => odds.sentence.clone(),
                    (other, Some(_)) => Meaning::Profile(profile).odds_sentence(other, self.unit_of_odds()),
                };
                let _ = writeln!(
                    page.html,
                    "<div class=\"verdict\"><span class=\"big\">ε = {} {} δ = {:e}</span><br>{}</div>",
                    rounded_up(guarantee.epsilon),
                    words.say("at", "，"),
                    guarantee.delta,
                    escape(&sentence)
                );
            }
            (verdict, _) => {
                let _ = writeln!(
                    page.html,
                    "<div class=\"verdict none\"><span class=\"big\">{}</span>",
                    words.say("No DP claim", "无差分隐私保证")
                );
                let reasons: Vec<_> = verdict
                    .reasons()
                    .iter()
                    .map(|reason| words.no_claim(reason))
                    .collect();
                page.list(&reasons, MOST_ITEMS);
                page.push("</div>\n");
            }
        }
    }

    fn put_promise(&self, page: &mut Page) {
        let words = page.words;
        page.heading(words.say("Promise", "承诺"));
        let missing = || words.say("not stated", "未说明").to_owned();
        let mut rows = vec![
            (
                words.say("Unit of privacy", "隐私单位"),
                self.unit.as_ref().map_or_else(missing, |unit| words.unit(unit)),
            ),
            (
                words.say("Neighbouring data sets", "相邻的数据集"),
                self.relation
                    .map_or_else(missing, |relation| words.relation(relation).into()),
            ),
        ];
        if let Some(guarantee) = &self.guarantee {
            rows.push((
                words.say("ε to all digits", "ε 的全部位数"),
                format!(
                    "{} {} δ = {:e}",
                    guarantee.epsilon,
                    words.say("at", "，"),
                    guarantee.delta
                ),
            ));
            rows.push((words.say("Accountant", "会计方法"), accountant(words, guarantee)));
        }
        if let Some(odds) = &self.odds {
            rows.push((
                words.say("Strongest attacker", "最强的攻击者"),
                attacker(words, odds),
            ));
        }
        rows.push((
            words.say("Random bits", "随机数"),
            self.random_source
                .map_or_else(missing, |origin| words.random(origin)),
        ));
        rows.push((
            words.say("Sampling", "采样"),
            self.sampling
                .map_or_else(missing, |sampling| words.sampling(sampling).into()),
        ));
        let noise: Vec<_> = self.noise.iter().map(|kind| words.noise(*kind)).collect();
        if !noise.is_empty() {
            rows.push((words.say("Noise", "噪声"), noise.join(words.between())));
        }
        if let Some(stop) = self.stop {
            rows.push((words.say("End", "结束"), words.stop(stop).into()));
        }
        if let Some(resumed) = self.resumed {
            rows.push((words.say("Taken up again", "中断后继续"), words.resumed(resumed)));
        }
        page.rows(rows);
    }

    fn put_limits(&self, page: &mut Page) {
        let words = page.words;
        let protected: Vec<_> = self
            .not_protected
            .iter()
            .map(|item| words.not_protected(item))
            .collect();
        let accounted: Vec<_> = self
            .not_accounted
            .iter()
            .map(|item| words.not_accounted(*item).into())
            .collect();
        for (title, items) in [
            (words.say("Not protected", "不受保护"), protected),
            (words.say("Not accounted", "未计入"), accounted),
        ] {
            page.heading(title);
            if items.is_empty() {
                let _ = writeln!(
                    page.html,
                    "<p>{}</p>",
                    words.say("Nothing is listed.", "没有列出任何内容。")
                );
            } else {
                page.list(&items, MOST_ITEMS);
            }
        }
    }

    fn put_events(&self, page: &mut Page) {
        let Some(EventList { events, .. }) = &self.events else {
            return;
        };
        let title = page
            .words
            .say("What was done to the private data", "对私有数据做了什么");
        page.heading(title);
        let items: Vec<_> = events.iter().map(event_in_words).collect();
        page.list(&items, MOST_EVENTS);
    }

    fn put_checks(&self, page: &mut Page) {
        if self.checks.is_empty() {
            return;
        }
        let words = page.words;
        page.heading(words.say("Checks", "检验"));
        let items: Vec<_> = self
            .checks
            .iter()
            .map(|check| {
                let interval = check
                    .interval
                    .map_or_else(String::new, |[low, high]| format!(" (95 %: {low} – {high})"));
                let cost = words.check_cost(check.cost);
                format!(
                    "{}: {}{interval}{}{cost}",
                    check.name,
                    check.value,
                    words.say(", ", "，")
                )
            })
            .collect();
        page.list(&items, MOST_ITEMS);
    }
}

/// The tag of a language.
fn tag(language: Language) -> &'static str {
    match language {
        Language::English => "en",
        Language::Chinese => "zh-CN",
    }
}

fn put_spending(spending: &Spending, page: &mut Page) {
    let words = page.words;
    page.heading(words.say("Spending", "花费"));
    let charge =
        |charge: &crate::privacy::ledger::Charge| format!("ε {} δ {:e}", charge.epsilon, charge.delta);
    let total = match (&spending.total, spending.left, words.language) {
        (Some(total), Some(left), Language::English) => format!("{}, {} left", charge(total), percent(left)),
        (Some(total), Some(left), Language::Chinese) => {
            format!("{}，剩余 {}", charge(total), percent(left))
        }
        _ => words.say("none set", "未设").to_owned(),
    };
    let (reserved, spent) = (charge(&spending.reserved), charge(&spending.spent));
    let (job, chain) = match words.language {
        Language::English => (
            format!("reserved {reserved}, charged {spent}"),
            format!(
                "entry {} of {}, ending in {}; {}",
                spending.ledger_entry, spending.ledger_entries, spending.ledger_head, spending.scope
            ),
        ),
        Language::Chinese => (
            format!("预留 {reserved}，计费 {spent}"),
            format!(
                "共 {} 条中的第 {} 条，末尾为 {}；只包括此安装所知的花费",
                spending.ledger_entries, spending.ledger_entry, spending.ledger_head
            ),
        ),
    };
    page.rows([
        (words.say("This job", "本次任务"), job),
        (
            words.say("All jobs, added up", "全部任务合计"),
            charge(&spending.data_set_spent),
        ),
        (words.say("Total of the data set", "数据集的总额"), total),
        (
            words.say("Runs of which nothing was kept", "未保留任何结果的训练"),
            spending.discarded_runs.to_string(),
        ),
        (words.say("Ledger", "账本"), chain),
    ]);
}

fn named(words: Words, data_set: &DataSet) -> String {
    let public = if data_set.public {
        words.say(" (public teaching data)", "（公开的教学数据）")
    } else {
        ""
    };
    if data_set.description.is_empty() {
        format!("{}{public}", data_set.name)
    } else {
        format!("{}{public}: {}", data_set.name, data_set.description)
    }
}

fn attacker(words: Words, odds: &Odds) -> String {
    let (advantage, one, tenth) = (
        percent(odds.advantage),
        percent(odds.tpr_at_fpr_1_percent),
        percent(odds.tpr_at_fpr_0_1_percent),
    );
    match words.language {
        Language::English => format!(
            "advantage over guessing at most {advantage}; finds at most {one} of those present at 1 % false alarms, {tenth} at 0.1 %"
        ),
        Language::Chinese => format!(
            "比猜测的优势最多 {advantage}；误报率为 1 % 时最多认出在场者的 {one}，0.1 % 时最多 {tenth}"
        ),
    }
}

/// Three decimals, never below the number itself.
fn rounded_up(value: f64) -> String {
    format!("{:.3}", (value * 1000.0 - 1e-9).ceil() / 1000.0)
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn accountant(words: Words, guarantee: &Guarantee) -> String {
    let mut text = words.accountant(guarantee.accountant).to_owned();
    let _ = write!(
        text,
        "{}{}",
        words.say(", version ", "，版本 "),
        guarantee.accountant_version
    );
    if let Some(rho) = guarantee.rho {
        let _ = write!(text, "{}ρ = {rho}", words.between());
    }
    if let Some(mu) = guarantee.mu {
        let _ = write!(text, "{}μ = {mu}", words.between());
    }
    text
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
    language: Language,
    overwrite: bool,
) -> Result<(), ExportError> {
    write_atomically(path, certificate.to_html(language).as_bytes(), overwrite)
}
