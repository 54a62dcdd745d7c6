//! The window's texts, from the translation files in `assets/i18n`.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use fluent_bundle::{FluentArgs, FluentBundle, FluentResource, FluentValue};
use unic_langid::LanguageIdentifier;

use crate::engine::settings::Language;
use crate::num::{Argument, Message};

/// The files of a language, in the order in which they are read.
///
/// What the engine says ([`Message`]) is English where it is said; the other languages have a file of its own for
/// it, by the messages' keys.
fn sources(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => &[
            include_str!("../../assets/i18n/en/window.ftl"),
            include_str!("../../assets/i18n/en/pages.ftl"),
            include_str!("../../assets/i18n/en/explore.ftl"),
            include_str!("../../assets/i18n/en/settings.ftl"),
        ],
        Language::Chinese => &[
            include_str!("../../assets/i18n/zh-CN/window.ftl"),
            include_str!("../../assets/i18n/zh-CN/pages.ftl"),
            include_str!("../../assets/i18n/zh-CN/explore.ftl"),
            include_str!("../../assets/i18n/zh-CN/settings.ftl"),
            include_str!("../../assets/i18n/zh-CN/messages.ftl"),
        ],
    }
}

/// The tag by which Fluent chooses its plural rules; the root language if it were malformed.
fn identifier(language: Language) -> LanguageIdentifier {
    let tag = match language {
        Language::English => "en",
        Language::Chinese => "zh-CN",
    };
    tag.parse().unwrap_or_default()
}

/// The language's own name, as a person who reads it expects it.
pub fn own_name(language: Language) -> &'static str {
    match language {
        Language::English => "English",
        Language::Chinese => "中文",
    }
}

/// The other language.
pub fn other(language: Language) -> Language {
    match language {
        Language::English => Language::Chinese,
        Language::Chinese => Language::English,
    }
}

/// Looks texts up by their key.
///
/// Texts without variables are resolved once, when the language is chosen, so that a frame only looks them up.
pub struct Texts {
    language: Language,
    plain: HashMap<String, String>,
    bundle: FluentBundle<FluentResource>,
    missing: RefCell<BTreeSet<String>>,
}

impl Texts {
    /// Reads the files of a language. A file that cannot be parsed is a fault of the program and caught by a
    /// test; what can be read of it is used.
    pub fn new(language: Language) -> Self {
        let mut bundle = FluentBundle::new(vec![identifier(language)]);
        bundle.set_use_isolating(false);
        let mut keys = Vec::new();
        for &source in sources(language) {
            let resource = match FluentResource::try_new(source.to_owned()) {
                Ok(resource) | Err((resource, _)) => resource,
            };
            keys.extend(message_keys(source));
            bundle.add_resource_overriding(resource);
        }
        let mut plain = HashMap::new();
        for key in keys {
            let Some(pattern) = bundle.get_message(&key).and_then(|message| message.value()) else {
                continue;
            };
            let mut errors = Vec::new();
            let text = bundle.format_pattern(pattern, None, &mut errors).into_owned();
            if errors.is_empty() {
                plain.insert(key, text);
            }
        }
        Self {
            language,
            plain,
            bundle,
            missing: RefCell::default(),
        }
    }

    /// The language of these texts.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The text of a key without variables. A key that is not there stands for itself, and is noted.
    pub fn get<'a>(&'a self, key: &'a str) -> &'a str {
        self.plain.get(key).map_or_else(
            || {
                self.note(key);
                key
            },
            String::as_str,
        )
    }

    /// Whether a key is there at all.
    pub fn has(&self, key: &str) -> bool {
        self.bundle.has_message(key)
    }

    /// The text of a key with its variables filled in.
    pub fn with<'a, const N: usize>(&self, key: &str, variables: [(&'a str, FluentValue<'a>); N]) -> String {
        self.fill(key, &variables.into_iter().collect())
            .unwrap_or_else(|| key.to_owned())
    }

    /// The text of a key with its variables filled in, if there is one. What is missing is noted.
    fn fill(&self, key: &str, arguments: &FluentArgs<'_>) -> Option<String> {
        let Some(pattern) = self.bundle.get_message(key).and_then(|message| message.value()) else {
            self.note(key);
            return None;
        };
        let mut errors = Vec::new();
        let text = self
            .bundle
            .format_pattern(pattern, Some(arguments), &mut errors)
            .into_owned();
        if !errors.is_empty() {
            self.note(key);
        }
        Some(text)
    }

    /// What the engine says, in this language: by its key, or in its own words where it has none.
    pub fn say(&self, message: &Message) -> String {
        let Some(key) = message.key().filter(|_| self.language != Language::English) else {
            return message.as_str().to_owned();
        };
        let arguments: FluentArgs<'_> = message
            .arguments()
            .iter()
            .map(|(name, argument)| (*name, self.filled(argument)))
            .collect();
        self.fill(key, &arguments)
            .unwrap_or_else(|| message.as_str().to_owned())
    }

    /// What stands at a place of a message, in this language.
    pub fn filled(&self, argument: &Argument) -> String {
        match argument {
            Argument::Text(text) => text.clone(),
            Argument::Key(key) => self.get(key).to_owned(),
            Argument::Said(message) => self.say(message),
            Argument::List(messages) => {
                let all: Vec<String> = messages.iter().map(|message| self.say(message)).collect();
                all.join("；")
            }
        }
    }

    fn note(&self, key: &str) {
        self.missing.borrow_mut().insert(key.to_owned());
    }

    /// Keys asked for in vain, or whose variables did not fit, so far.
    pub fn missing(&self) -> BTreeSet<String> {
        self.missing.borrow().clone()
    }
}

/// The keys of a translation file: every line that begins with a message's name.
fn message_keys(source: &str) -> impl Iterator<Item = String> + '_ {
    source.lines().filter_map(|line| {
        let (key, _) = line.split_once('=')?;
        let key = key.trim_end();
        let is_key = key.starts_with(|c: char| c.is_ascii_lowercase())
            && key
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        is_key.then(|| key.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;

    fn variables(source: &str) -> BTreeMap<String, BTreeSet<String>> {
        let mut found = BTreeMap::new();
        let mut current = String::new();
        for line in source.lines() {
            if let Some(key) = message_keys(line).next() {
                current = key;
                found.insert(current.clone(), BTreeSet::new());
            }
            let mut rest = line;
            while let Some(at) = rest.find("{ $").or_else(|| rest.find("{$")) {
                rest = rest[at..].trim_start_matches(['{', ' ', '$']);
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
                let name = rest[..end.unwrap_or(rest.len())].to_owned();
                found
                    .get_mut(&current)
                    .expect("a variable stands inside a message")
                    .insert(name);
            }
        }
        found
    }

    fn all_variables(sources: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
        let mut all = BTreeMap::new();
        for &source in sources {
            for (key, names) in variables(source) {
                assert!(all.insert(key.clone(), names).is_none(), "{key} stands twice");
            }
        }
        all
    }

    #[test]
    fn the_files_parse_and_both_languages_say_the_same_things() {
        for language in [Language::English, Language::Chinese] {
            for &source in sources(language) {
                if let Err((_, errors)) = FluentResource::try_new(source.to_owned()) {
                    panic!("{language:?}: {errors:?}");
                }
            }
        }
        let english = sources(Language::English);
        // What the engine says comes last, and in the other language only.
        let chinese = &sources(Language::Chinese)[..english.len()];
        let (english, chinese) = (all_variables(english), all_variables(chinese));
        for (key, names) in &english {
            assert_eq!(chinese.get(key), Some(names), "{key} differs");
        }
        assert_eq!(english.len(), chinese.len());
    }

    /// The messages in a source: the key, and the names that fill its places.
    fn messages(source: &str) -> Vec<(String, BTreeSet<String>)> {
        let mut found = Vec::new();
        for call in ["message!(", "said!("] {
            for (at, _) in source.match_indices(call) {
                let parts = arguments(&source[at + call.len()..]);
                let Some(key) = parts.iter().find_map(|part| {
                    let literal = part.trim().strip_prefix('"')?.strip_suffix('"')?;
                    Some(literal.to_owned())
                }) else {
                    continue;
                };
                let names = parts.iter().filter_map(|part| {
                    let (name, _) = part.split_once('=')?;
                    let name = name.trim();
                    let is_name =
                        !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
                    is_name.then(|| name.to_owned())
                });
                found.push((key, names.collect()));
            }
        }
        found
    }

    /// What stands between the commas of a call, up to the parenthesis that closes it.
    fn arguments(source: &str) -> Vec<String> {
        let (mut depth, mut quoted, mut escaped) = (0, false, false);
        let mut parts = vec![String::new()];
        for c in source.chars() {
            if quoted {
                quoted = escaped || c != '"';
                escaped = c == '\\' && !escaped;
            } else {
                match c {
                    '"' => quoted = true,
                    '(' | '[' | '{' => depth += 1,
                    ')' if depth == 0 => break,
                    ')' | ']' | '}' => depth -= 1,
                    ',' if depth == 0 => {
                        parts.push(String::new());
                        continue;
                    }
                    _ => {}
                }
            }
            if let Some(part) = parts.last_mut() {
                part.push(c);
            }
        }
        parts
    }

    fn rust_files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                rust_files(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }

    /// Everything that the engine says has a translation, and fills all of its places.
    #[test]
    fn what_the_engine_says_is_translated() {
        let mut files = Vec::new();
        rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
        let known = all_variables(sources(Language::Chinese));
        let mut seen = 0;
        for file in files {
            if file.ends_with("num/message.rs") || file.ends_with("gui/i18n.rs") {
                continue;
            }
            for (key, names) in messages(&std::fs::read_to_string(&file).unwrap()) {
                let wanted = known
                    .get(&key)
                    .unwrap_or_else(|| panic!("{}: no text for {key}", file.display()));
                assert!(wanted.is_subset(&names), "{key}: {wanted:?} of {names:?}");
                seen += 1;
            }
        }
        assert!(seen > 150, "the search finds the messages: {seen}");
    }

    #[test]
    fn the_engine_speaks_the_windows_language() {
        let inner = crate::message!("cell-is-missing", "the cell is missing");
        let message = crate::message!(
            "in-column",
            "column `{column}`: {message}",
            column = "年龄",
            message = inner
        );
        let chinese = Texts::new(Language::Chinese);
        let said = chinese.say(&message);
        assert!(said.starts_with("“年龄”列：单元格缺失"), "{said}");
        assert!(chinese.missing().is_empty());
        let english = Texts::new(Language::English);
        assert_eq!(english.say(&message), message.as_str());
        assert_eq!(chinese.say(&Message::plain("os error 2")), "os error 2");
    }

    /// Every literal key in the window's source exists.
    #[test]
    fn every_key_used_in_the_source_is_translated() {
        let texts = Texts::new(Language::English);
        let mut seen = 0;
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gui")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let whole = std::fs::read_to_string(&path).unwrap();
                // Tests may ask for keys that do not exist.
                let source = whole.split("#[cfg(test)]").next().unwrap();
                for call in ["texts.get(\"", "texts.with(\"", "t.get(\"", "t.with(\""] {
                    for (at, _) in source.match_indices(call) {
                        let key = source[at + call.len()..].split('"').next().unwrap();
                        assert!(texts.has(key), "{}: no text for {key}", path.display());
                        seen += 1;
                    }
                }
            }
        }
        assert!(seen > 50, "the search finds the keys: {seen}");
    }

    #[test]
    fn a_missing_key_stands_for_itself_and_is_noted() {
        let texts = Texts::new(Language::English);
        let none: [(&str, FluentValue<'_>); 0] = [];
        assert_eq!(texts.get("no-such-key"), "no-such-key");
        assert_eq!(texts.with("no-such-text", none), "no-such-text");
        assert_eq!(texts.missing().len(), 2);
    }
}
