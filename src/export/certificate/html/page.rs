//! A page of HTML in the making.

use std::fmt::Write as _;

use super::words::Words;
use crate::privacy::meaning::Language;

/// Colours and sizes; the page prints on one side of A4 or Letter.
pub(super) const STYLE: &str = "\
@page{margin:11mm}\
*{box-sizing:border-box}\
body{font:9.5pt/1.35 system-ui,-apple-system,'Segoe UI','Noto Sans','Noto Sans SC','PingFang SC','Microsoft YaHei',sans-serif;color:#23211d;background:#fff;\
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
main{display:none}\
#en:checked~.en,#zh:checked~.zh{display:block}\
input{position:absolute;opacity:0}\
label{cursor:pointer;margin-right:4mm;color:#6b665c}\
input:checked+label{color:#23211d;text-decoration:underline}\
input:focus-visible+label{outline:2px solid #2f5d8c}\
@media print{body{margin:0;padding:0;font-size:8.5pt;line-height:1.3}input,label{display:none}\
.verdict{font-size:10pt;padding:2mm 3mm;margin:2mm 0}h2{margin:2.5mm 0 .5mm}p{margin:0}code,footer{font-size:7.5pt}}";

pub(super) fn escape(text: &str) -> String {
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
pub(super) struct Page {
    pub html: String,
    /// The language that is being written.
    pub words: Words,
}

impl Page {
    pub fn push(&mut self, html: &str) {
        self.html.push_str(html);
    }

    pub fn heading(&mut self, text: &str) {
        self.html.push_str("<h2>");
        self.html.push_str(&escape(text));
        self.html.push_str("</h2>\n");
    }

    pub fn rows<'a>(&mut self, rows: impl IntoIterator<Item = (&'a str, String)>) {
        self.push("<table>\n");
        for (name, value) in rows {
            // Writing to a string cannot fail, here and below.
            let _ = writeln!(
                self.html,
                "<tr><th scope=\"row\">{}</th><td>{}</td></tr>",
                escape(name),
                escape(&value)
            );
        }
        self.push("</table>\n");
    }

    pub fn list(&mut self, items: &[String], most: usize) {
        self.push("<ul>\n");
        for item in items.iter().take(most) {
            let _ = writeln!(self.html, "<li>{}</li>", escape(item));
        }
        if items.len() > most {
            let more = items.len() - most;
            let _ = match self.words.language {
                Language::English => writeln!(self.html, "<li>and {more} more: see the JSON file</li>"),
                Language::Chinese => writeln!(self.html, "<li>还有 {more} 项：见 JSON 文件</li>"),
            };
        }
        self.push("</ul>\n");
    }
}
