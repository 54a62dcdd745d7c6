//! Odds and page speak of what the promise hides.

use super::*;

/// The odds and the pages of a certificate about such records and such a unit.
fn said(records: Records, unit: PrivacyUnit) -> (String, String, String) {
    let certificate = Certificate::issue(CertificateFacts {
        records,
        unit: Some(unit),
        ..facts()
    })
    .unwrap();
    assert_eq!(verify(&certificate).reasons, [""; 0]);
    let pages = [Language::English, Language::Chinese].map(|language| {
        let page = certificate.to_html(language);
        let start = page.find("<header>").unwrap();
        let other = page.rfind("<main").unwrap();
        match language {
            Language::English => page[start..other].to_owned(),
            Language::Chinese => page[other..].to_owned(),
        }
    });
    let [english, chinese] = pages;
    (certificate.odds.unwrap().sentence, english, chinese)
}

fn person() -> PrivacyUnit {
    PrivacyUnit::Person {
        column: "id".into(),
        max_rows: 3,
    }
}

#[test]
fn odds_speak_of_the_unit() {
    for (records, unit, word, chinese_word) in [
        (Records::Rows, PrivacyUnit::Row, "one row is", "某一行"),
        (Records::Images, PrivacyUnit::Row, "one image is", "某一张图像"),
        (Records::Rows, person(), "one person is", "某人"),
    ] {
        let (sentence, english, chinese) = said(records, unit);
        assert!(sentence.contains(word), "{sentence}");
        assert!(english.contains(&sentence) && chinese.contains(chinese_word));
    }
}

#[test]
fn images_are_not_called_rows() {
    let (sentence, english, chinese) = said(Records::Images, PrivacyUnit::Row);
    for part in ["one image", "1 images", "each image entered", "every other image"] {
        assert!(english.contains(part), "{part}: {english}");
    }
    for part in ["一张图像", "1 张图像", "每张图像各自"] {
        assert!(chinese.contains(part), "{part}: {chinese}");
    }
    let told = format!("{sentence}{english}").replace("scope=\"row\"", "");
    // "rows outside the domain" is the name of the check, as its maker gave it.
    let told = told.replace("rows outside the domain", "");
    assert!(!told.contains("row"), "{told}");
    assert!(!chinese.contains('行'), "{chinese}");
}

#[test]
fn an_exchanged_unit_is_found() {
    let mut edited = certificate();
    edited.records = Some(Records::Images);
    edited.digest = edited.compute_digest();
    assert_eq!(verify(&edited).reasons, ["its odds do not follow from its ε"]);
}
