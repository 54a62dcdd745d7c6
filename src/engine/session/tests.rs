use super::*;

fn session() -> Session {
    let sample = samples::find("german_credit").unwrap();
    Session {
        version: VERSION,
        page: "page-train".to_owned(),
        folded: Folded {
            rows: true,
            ..Folded::default()
        },
        sizes: Sizes {
            plan: Some(312.0),
            ..Sizes::default()
        },
        data: SessionData {
            name: "german_credit.parquet".to_owned(),
            path: None,
            images: None,
            schema: sample.schema().unwrap().to_toml().unwrap(),
        },
        plan: SessionPlan {
            epsilon: 3.0,
            settings: Some(TrainSettings::default()),
            ..SessionPlan::default()
        },
    }
}

#[test]
fn a_session_survives_its_file_and_holds_no_rows() {
    let home = tempfile::tempdir().unwrap();
    let session = session();
    session.keep(home.path()).unwrap();
    assert_eq!(Session::last(home.path()), Some(session.clone()));
    assert_eq!(session.plan.request().target.unwrap().epsilon, 3.0);
    assert!(Session::is_session(Path::new(&session.file_name())));
    let text = session.to_toml().unwrap();
    assert!(text.len() < 20_000, "{}", text.len());
    let gan = SessionPlan {
        method: Method::Gan,
        ..SessionPlan::default()
    };
    assert!(gan.request().target.is_none());
}

/// A session with this request, written and opened again.
fn reopened(request: &RunRequest) -> Session {
    let home = tempfile::tempdir().unwrap();
    let session = Session {
        plan: SessionPlan::of(request),
        ..session()
    };
    session.keep(home.path()).unwrap();
    let opened = Session::load(&Session::file(home.path())).unwrap();
    assert_eq!(opened, session);
    opened
}

#[test]
fn every_methods_own_settings_come_back() {
    let changed = |settings: RunSettings| match settings {
        RunSettings::Table(settings) => RunSettings::Table(TrainSettings {
            steps: 77,
            critic_hidden: vec![8, 9],
            ..settings
        }),
        RunSettings::Pairs(settings) => RunSettings::Pairs(PairSettings {
            steps: 78,
            pair_weight: 12.5,
            marginal_share: 0.2,
            generator_hidden: vec![10, 11],
            ..settings
        }),
        RunSettings::Images(settings) => RunSettings::Images(ImageSettings {
            steps: 79,
            ..settings
        }),
    };
    let on_tables = Method::FOR_TABLES.map(|method| (method, false));
    let on_images = Method::FOR_IMAGES.map(|method| (method, true));
    for (method, is_of_images) in on_tables.into_iter().chain(on_images) {
        let recommended = method.settings(is_of_images);
        for settings in [None, Some(recommended.clone()), Some(changed(recommended))] {
            let request = RunRequest {
                method,
                target: method.is_private().then(PrivacyTarget::default),
                settings,
                seed: Some(3),
                ..RunRequest::default()
            };
            assert_eq!(reopened(&request).plan.request(), request);
        }
    }
}

#[test]
fn a_session_from_before_these_settings_opens() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("old.session.toml");
    let request = RunRequest {
        settings: Some(Method::Gem.settings(false)),
        method: Method::Gem,
        ..RunRequest::default()
    };
    let text = reopened(&request).to_toml().unwrap();
    let mut old: toml::Table = toml::from_str(&text).unwrap();
    let plan = old["plan"].as_table_mut().unwrap();
    assert!(plan.remove("pair_settings").is_some());
    std::fs::write(&path, toml::to_string(&old).unwrap()).unwrap();
    let opened = Session::load(&path).unwrap().plan.request();
    // What was not kept then is what is recommended.
    assert_eq!((opened.method, opened.settings), (Method::Gem, None));
}

#[test]
fn every_file_has_its_own_work_and_the_oldest_is_forgotten() {
    let home = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let on_file = |name: &str| {
        let mut session = session();
        let path = folder.path().join(name);
        session.data.name = name.to_owned();
        session.data.path = Some(path.clone());
        session.keep(home.path()).unwrap();
        (path, session)
    };
    let (first, kept) = on_file("first.csv");
    let (second, _) = on_file("second.csv");
    assert_eq!(Session::on(home.path(), &first), Some(kept));
    assert_eq!(Session::on(home.path(), &second), Session::last(home.path()));
    assert_eq!(Session::on(home.path(), &folder.path().join("third.csv")), None);
    // A schema that was written by hand since is the newer review.
    std::fs::write(folder.path().join("second.schema.toml"), "").unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
    let written = std::fs::File::options()
        .write(true)
        .open(folder.path().join("second.schema.toml"))
        .unwrap();
    written.set_modified(later).unwrap();
    assert_eq!(Session::on(home.path(), &second), None);
    let earlier = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    let file = Session::file_of(home.path(), &first);
    let old = std::fs::File::options().write(true).open(&file).unwrap();
    old.set_modified(earlier).unwrap();
    for number in 0..MOST_FILES {
        on_file(&format!("{number}.csv"));
    }
    let kept = std::fs::read_dir(file.parent().unwrap()).unwrap().count();
    assert_eq!((kept, Session::on(home.path(), &first)), (MOST_FILES, None));
}

#[test]
fn a_bad_session_is_told_and_not_taken_up() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.session.toml");
    assert!(Session::load(&path).is_err());
    let newer = Session {
        version: VERSION + 1,
        ..session()
    };
    let mut unknown = session();
    unknown.data.name = "no such table.parquet".to_owned();
    for text in [
        "version = [".to_owned(),
        newer.to_toml().unwrap(),
        unknown.to_toml().unwrap(),
        session().to_toml().unwrap().replace("kind", "kin"),
    ] {
        std::fs::write(&path, &text).unwrap();
        assert!(Session::load(&path).is_err(), "{text}");
    }
}
