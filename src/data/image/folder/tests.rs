use image::{DynamicImage, GrayAlphaImage, GrayImage, ImageBuffer, Luma, RgbImage};

use super::super::labels::LABELS;
use super::super::{ImageForm, ImageSet, holds_images, read_images};
use super::*;
use crate::data::Provenance;

/// A grey JPEG picture of 16 × 16 pixels of value 77: a quantisation of 8 throughout, four blocks with nothing but a
/// mean, and Huffman tables of as many codes as that takes.
fn jpeg() -> Vec<u8> {
    let mut file = vec![0xff, 0xd8, 0xff, 0xdb, 0, 67, 0];
    file.extend([8; 64]);
    file.extend([0xff, 0xc0, 0, 11, 8, 0, 16, 0, 16, 1, 1, 0x11, 0]);
    file.extend([0xff, 0xc4, 0, 21, 0x00, 1, 1]);
    file.extend([0; 14]);
    file.extend([0, 6]);
    file.extend([0xff, 0xc4, 0, 20, 0x10, 1]);
    file.extend([0; 15]);
    file.push(0);
    file.extend([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x8c, 0x01, 0xff, 0xd9]);
    file
}

fn grey(side: u32, value: u8) -> DynamicImage {
    DynamicImage::ImageLuma8(GrayImage::from_pixel(side, side, Luma([value])))
}

fn load(path: &Path, options: &ImageOptions) -> Result<ImageSet, DataError> {
    read_images(path, options, &Progress::new())
}

fn says(path: &Path, options: &ImageOptions, words: &[&str]) {
    let said = load(path, options).unwrap_err().to_string();
    assert!(words.iter().all(|word| said.contains(word)), "{said}");
}

#[test]
fn folders_name_classes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (class, value) in [("dog", 10), ("cat", 200)] {
        fs::create_dir(path.join(class)).unwrap();
        for image in 0..3 {
            grey(16, value + image)
                .save(path.join(class).join(format!("{image}.png")))
                .unwrap();
        }
    }
    fs::write(path.join("notes.txt"), "of no concern").unwrap();
    assert!(holds_images(path));
    let set = load(path, &ImageOptions::default()).unwrap();
    assert_eq!((set.len(), set.form()), (6, ImageForm { side: 16, colours: 1 }));
    assert_eq!(set.labels().unwrap().names, ["cat", "dog"]);
    assert_eq!(set.codes(), [0, 0, 0, 1, 1, 1]);
    assert_eq!(set.bytes()[0], 200);
    // Their names were read off the data, so certificates list them as not protected.
    assert_eq!(set.labels().unwrap().provenance, Provenance::Accepted);
    assert_eq!(set.schema().unprotected_columns().count(), 1);
    grey(16, 0).save(path.join("loose.png")).unwrap();
    says(path, &ImageOptions::default(), &["both in it and in folders"]);
}

#[test]
fn a_table_names_classes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let labels = path.join(LABELS);
    let default = ImageOptions::default();
    fs::write(&labels, "file,label\n").unwrap();
    says(path, &default, &["no image that it could be about"]);
    grey(16, 1).save(path.join("a.png")).unwrap();
    fs::write(path.join("b.jpg"), jpeg()).unwrap();
    grey(16, 3).save(path.join("c.png")).unwrap();
    fs::write(&labels, "file,label\na.png,x\nb.jpg,y\nc.png,x\n").unwrap();
    let set = load(path, &default).unwrap();
    assert_eq!(set.codes(), [0, 1, 0]);
    assert_eq!(set.bytes()[256], 77, "a flat grey of 77");
    fs::write(&labels, "file,label\na.png,x\nb.jpg,y\n").unwrap();
    says(path, &default, &["no class for c.png"]);
    fs::write(&labels, "file,label\na.png,x\nb.jpg,y\nc.png,x\nd.png,x\n").unwrap();
    says(path, &default, &["d.png", "no such image"]);
    fs::write(&labels, "file,label\na.png,x\na.png,y\n").unwrap();
    says(path, &default, &["a.png twice"]);
    fs::remove_file(&labels).unwrap();
    assert!(load(path, &default).unwrap().labels().is_none());
}

#[test]
fn sizes_and_colours_are_declared_or_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    grey(16, 100).save(path.join("a.png")).unwrap();
    let wide = RgbImage::from_fn(60, 40, |column, _| {
        image::Rgb(if (10..50).contains(&column) {
            [255, 0, 0]
        } else {
            [0, 0, 255]
        })
    });
    wide.save(path.join("b.png")).unwrap();
    let default = ImageOptions::default();
    says(path, &default, &["b.png", "in colour"]);
    let grey_only = ImageOptions {
        colours: Some(1),
        ..default.clone()
    };
    says(path, &grey_only, &["b.png", "60 × 40"]);
    let both = ImageOptions {
        side: Some(16),
        colours: Some(3),
        ..default.clone()
    };
    let set = load(path, &both).unwrap();
    assert_eq!(set.form(), ImageForm { side: 16, colours: 3 });
    // The middle square is kept, so the blue at both sides is gone.
    assert_eq!(set.bytes()[768..771], [255, 0, 0]);
    assert_eq!(set.bytes()[..3], [100, 100, 100]);
    fs::remove_file(path.join("a.png")).unwrap();
    says(path, &default, &["60 × 40", "16, 28 or 32"]);
}

#[test]
fn deep_and_transparent_pictures_are_flattened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let deep = ImageBuffer::<Luma<u16>, Vec<u16>>::from_pixel(16, 16, Luma([3000]));
    deep.save(path.join("deep.png")).unwrap();
    let default = ImageOptions::default();
    says(path, &default, &["deep.png", "16 bits", "window"]);
    let window = ImageOptions {
        window: Some([1000, 5000]),
        ..default.clone()
    };
    assert_eq!(load(path, &window).unwrap().bytes()[0], 128);
    fs::remove_file(path.join("deep.png")).unwrap();
    let glass = GrayAlphaImage::from_pixel(16, 16, image::LumaA([200, 51]));
    glass.save(path.join("glass.png")).unwrap();
    assert_eq!(load(path, &default).unwrap().bytes()[0], 40);
}

#[test]
fn deep_pictures_keep_what_shows_through() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let glass =
        ImageBuffer::<image::Rgba<u16>, Vec<u16>>::from_pixel(16, 16, image::Rgba([5000, 3000, 0, 51 << 8]));
    glass.save(path.join("glass.png")).unwrap();
    let window = ImageOptions {
        window: Some([1000, 5000]),
        ..ImageOptions::default()
    };
    // 255, 128 and 0, of which a fifth shows.
    assert_eq!(load(path, &window).unwrap().bytes()[..3], [51, 25, 0]);
}

/// A grey TIFF file of one strip and so many pages, by hand: the crate's writer makes one page.
fn tiff(pages: u32) -> Vec<u8> {
    let mut file = b"II*\0\x08\0\0\0".to_vec();
    let tags: [(u16, u16, u32); 9] = [
        (256, 3, 16),
        (257, 3, 16),
        (258, 3, 16),
        (259, 3, 1),
        (262, 3, 1),
        (273, 4, 0),
        (277, 3, 1),
        (278, 3, 16),
        (279, 4, 512),
    ];
    let directory = 2 + 12 * tags.len() as u32 + 4;
    let pixels = 8 + pages * directory;
    for page in 1..=pages {
        file.extend((tags.len() as u16).to_le_bytes());
        for (tag, kind, value) in tags {
            let value = if tag == 273 { pixels } else { value };
            file.extend(tag.to_le_bytes());
            file.extend(kind.to_le_bytes());
            file.extend(1_u32.to_le_bytes());
            file.extend(value.to_le_bytes());
        }
        let next = if page < pages { 8 + page * directory } else { 0 };
        file.extend(next.to_le_bytes());
    }
    file.extend([3000_u16; 256].iter().flat_map(|value| value.to_le_bytes()));
    file
}

#[test]
fn tiff_pictures_are_read_by_their_window() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let default = ImageOptions::default();
    let window = ImageOptions {
        window: Some([1000, 5000]),
        ..default.clone()
    };
    fs::write(path.join("scan.tif"), tiff(1)).unwrap();
    says(path, &default, &["scan.tif", "16 bits", "--grey-window"]);
    assert_eq!(load(path, &window).unwrap().bytes(), [128; 256]);
    fs::write(path.join("scan.tif"), tiff(2)).unwrap();
    says(path, &window, &["scan.tif", "several pictures"]);
    fs::write(path.join("scan.tif"), &tiff(1)[..300]).unwrap();
    says(path, &window, &["scan.tif", "damaged"]);
    fs::remove_file(path.join("scan.tif")).unwrap();
    grey(16, 9).save(path.join("eight.tiff")).unwrap();
    assert_eq!(load(path, &default).unwrap().bytes(), [9; 256]);
    let real = image::Rgb32FImage::from_pixel(16, 16, image::Rgb([0.5, 0.5, 0.5]));
    DynamicImage::ImageRgb32F(real)
        .save(path.join("real.tiff"))
        .unwrap();
    let colour = ImageOptions {
        colours: Some(3),
        ..default
    };
    says(path, &colour, &["real.tiff", "32 bits"]);
}

#[test]
fn a_table_beside_the_folder_or_named_gives_the_classes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scans");
    fs::create_dir(&path).unwrap();
    grey(16, 1).save(path.join("a.png")).unwrap();
    grey(16, 2).save(path.join("b.png")).unwrap();
    let beside = folder.path().join("scans.csv");
    let default = ImageOptions::default();
    // A table of something else is left alone.
    fs::write(&beside, "patient,age\n1,50\n2,60\n").unwrap();
    assert!(load(&path, &default).unwrap().labels().is_none());
    fs::write(&beside, "age,Filename,class\n50,a.png,ill\n60,b.png,well\n").unwrap();
    let set = load(&path, &default).unwrap();
    assert_eq!(set.labels().unwrap().names, ["ill", "well"]);
    let files = super::super::image_files(&path, &default);
    assert_eq!(files, [path.clone(), beside]);
    fs::create_dir(path.join("more")).unwrap();
    grey(16, 3).save(path.join("more").join("c.png")).unwrap();
    says(&path, &default, &["both in it and in folders"]);
    let table = folder.path().join("table.csv");
    fs::write(&table, "file,label\na.png,x\nmore\\c.png,y\nb.png,x\n").unwrap();
    let named = ImageOptions {
        labels: Some(table.clone()),
        ..default
    };
    let set = load(&path, &named).unwrap();
    assert_eq!((set.codes(), set.bytes()[512]), (vec![0, 0, 1], 3));
    fs::write(&table, "file,label\na.png,x\nmore/c.png,\nb.png,x\n").unwrap();
    says(&path, &named, &["no class for more/c.png"]);
    fs::remove_file(&table).unwrap();
    says(&path, &named, &["table.csv", "cannot be read"]);
}

#[test]
fn damaged_pictures_are_named_or_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for name in ["a", "b", "c"] {
        fs::create_dir(path.join(name)).unwrap();
        grey(16, 9).save(path.join(name).join("1.png")).unwrap();
    }
    let cut = path.join("b").join("1.png");
    let whole = fs::read(&cut).unwrap();
    fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    fs::write(path.join("c").join("0.png"), "no picture").unwrap();
    says(path, &ImageOptions::default(), &["1.png", "damaged"]);
    let skipping = ImageOptions {
        skip_damaged: true,
        ..ImageOptions::default()
    };
    let set = load(path, &skipping).unwrap();
    assert_eq!(set.len(), 2);
    assert_eq!(set.labels().unwrap().names, ["a", "c"]);
    assert!(
        set.notes()[0].contains("2 images were skipped"),
        "{:?}",
        set.notes()
    );
    let empty = tempfile::tempdir().unwrap();
    assert!(!holds_images(empty.path()));
    says(empty.path(), &ImageOptions::default(), &["no image"]);
}
