//! What the program says, in English where it is said and with a key by which a window says it otherwise.
//!
//! The English stands beside the code that knows what happened, so the command line and the log read the same
//! words; `assets/i18n` holds the other languages by key. A message without a key (an operating system's own words)
//! is shown as it is.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A sentence with what fills it. As wide as a pointer, so that an error that carries one stays small. Two messages
/// are the same if they say the same in English: one that comes from a file has lost its key.
#[derive(Clone, Debug, Default)]
pub struct Message(Box<Parts>);

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.0.text == other.0.text
    }
}

impl Eq for Message {}

#[derive(Clone, Debug, Default)]
struct Parts {
    key: Option<&'static str>,
    arguments: Vec<(&'static str, Argument)>,
    text: String,
}

/// What stands at a place of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A name, a number, a path: the same in every language.
    Text(String),
    /// A word of the window, by the key of its text.
    Key(String),
    /// A message within the message.
    Said(Message),
    /// Several of them.
    List(Vec<Message>),
}

impl Message {
    /// A sentence in English, the key of its translation, and what fills that.
    pub fn new(key: &'static str, text: impl Into<String>, arguments: Vec<(&'static str, Argument)>) -> Self {
        Self(Box::new(Parts {
            key: Some(key),
            arguments,
            text: text.into(),
        }))
    }

    /// Words that are shown as they are in every language.
    pub fn plain(text: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            text: text.into(),
            ..Parts::default()
        }))
    }

    /// The key of the translation, if there is one.
    pub fn key(&self) -> Option<&'static str> {
        self.0.key
    }

    /// What fills the translation's places.
    pub fn arguments(&self) -> &[(&'static str, Argument)] {
        &self.0.arguments
    }

    /// The English.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }
}

impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.text)
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::plain(text)
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}

/// Files keep the English alone.
impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.text)
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::plain)
    }
}

/// What can stand at a place of a message.
pub trait Fills {
    /// As an argument.
    fn argument(&self) -> Argument;
}

impl Fills for Message {
    fn argument(&self) -> Argument {
        Argument::Said(self.clone())
    }
}

impl Fills for Vec<Message> {
    fn argument(&self) -> Argument {
        Argument::List(self.clone())
    }
}

impl<T: Fills + ?Sized> Fills for &T {
    fn argument(&self) -> Argument {
        (**self).argument()
    }
}

impl Fills for std::path::PathBuf {
    fn argument(&self) -> Argument {
        Argument::Text(self.display().to_string())
    }
}

macro_rules! fills {
    ($($type:ty),* $(,)?) => {
        $(impl Fills for $type {
            fn argument(&self) -> Argument {
                Argument::Text(self.to_string())
            }
        })*
    };
}

fills!(
    str,
    String,
    char,
    u8,
    u16,
    u32,
    u64,
    usize,
    i64,
    f64,
    std::path::Display<'_>
);

/// A message: the key of its translations, the English, and what fills both.
///
/// ```
/// let message = pointillist::message!("misfit-rows", "{found} rows, not {said}", found = 3_u64, said = 4_u64);
/// assert_eq!(message.as_str(), "3 rows, not 4");
/// ```
#[macro_export]
macro_rules! message {
    ($key:literal, $text:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::num::Message::new(
            $key,
            format!($text $(, $name = $value)*),
            vec![$((stringify!($name), $crate::num::Fills::argument(&$value))),*],
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_keeps_its_english_its_key_and_what_fills_it() {
        let inner = message!("inner", "deep");
        let message = message!("outer", "{count} of {what}", count = 2_u64, what = inner);
        assert_eq!(message.to_string(), "2 of deep");
        assert_eq!(message.key(), Some("outer"));
        assert_eq!(
            message.arguments(),
            [
                ("count", Argument::Text("2".to_owned())),
                ("what", Argument::Said(inner))
            ]
        );
    }

    #[test]
    fn files_keep_the_english() {
        let message = message!("key", "text");
        let json = serde_json::to_string(&message).unwrap();
        assert_eq!(json, "\"text\"");
        let back: Message = serde_json::from_str(&json).unwrap();
        assert_eq!(back, Message::plain("text"));
    }
}
