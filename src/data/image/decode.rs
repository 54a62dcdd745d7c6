//! From a picture file to bytes of one form: decoded, made grey or coloured, cropped to a square and resized.

use std::io::Cursor;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use image::imageops::FilterType;
use image::{DynamicImage, ImageError, ImageFormat, ImageReader, Limits};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::{ImageForm, ImageOptions};
use crate::data::DataError;
use crate::num::progress::Progress;

/// No picture of a data set is wider or higher.
const MOST_SIDE: u32 = 1 << 14;
/// What decoding one may take of the memory.
const MOST_MEMORY: u64 = 1 << 29;

/// One picture to be read: what it is called, and where its bytes come from.
pub struct Picture<'a> {
    /// As it is called in messages.
    pub name: String,
    /// Its file's bytes.
    pub bytes: Box<dyn Fn() -> std::io::Result<Vec<u8>> + Send + Sync + 'a>,
}

/// Pictures of one form, in order.
pub struct Decoded {
    pub form: ImageForm,
    pub bytes: Vec<u8>,
    /// BLAKE3 of the files, in order.
    pub digests: Vec<[u8; 32]>,
    pub file_bytes: u64,
    /// The places of pictures that were skipped, and why each was.
    pub skipped: Vec<(usize, String)>,
}

struct One {
    pixels: Vec<u8>,
    digest: [u8; 32],
    file_bytes: u64,
}

/// Decodes all pictures, on every core.
///
/// # Errors
/// Names the first picture that cannot be used, unless such are to be skipped.
pub fn decode_all(
    shown: PathBuf,
    pictures: &[Picture<'_>],
    options: &ImageOptions,
    progress: &Progress,
) -> Result<Decoded, DataError> {
    let wrong = |message: String| DataError::Images {
        path: shown.clone(),
        message,
    };
    let form = form_of(pictures, options).map_err(&wrong)?;
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let results: Mutex<Vec<(usize, Result<One, String>)>> = Mutex::new(Vec::with_capacity(pictures.len()));
    let work = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            if place >= pictures.len() || progress.is_cancelled() || failed.load(Ordering::Relaxed) {
                return;
            }
            let picture = &pictures[place];
            let one = (picture.bytes)()
                .map_err(|error| error.to_string())
                .and_then(|bytes| {
                    Ok(One {
                        pixels: decode(&bytes, form, options)?,
                        digest: *blake3::hash(&bytes).as_bytes(),
                        file_bytes: bytes.len() as u64,
                    })
                });
            if one.is_err() && !options.skip_damaged {
                failed.store(true, Ordering::Relaxed);
            }
            results
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .push((place, one));
            progress.set(place as u64, pictures.len() as u64);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(pictures.len()) {
            scope.spawn(work);
        }
    });
    progress.check()?;
    let mut results = results
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_unstable_by_key(|(place, _)| *place);
    let mut decoded = Decoded {
        form,
        bytes: Vec::with_capacity(pictures.len() * form.pixels()),
        digests: Vec::with_capacity(pictures.len()),
        file_bytes: 0,
        skipped: Vec::new(),
    };
    for (place, one) in results {
        match one {
            Ok(one) => {
                decoded.bytes.extend(one.pixels);
                decoded.digests.push(one.digest);
                decoded.file_bytes += one.file_bytes;
            }
            Err(reason) if options.skip_damaged => decoded.skipped.push((place, reason)),
            Err(reason) => return Err(wrong(format!("{}: {reason}", pictures[place].name))),
        }
    }
    Ok(decoded)
}

/// The form that is declared, filled up from the first picture that can be read.
fn form_of(pictures: &[Picture<'_>], options: &ImageOptions) -> Result<ImageForm, String> {
    if let (Some(side), Some(colours)) = (options.side, options.colours) {
        return Ok(ImageForm { side, colours });
    }
    let mut reason = "there is no image in it".to_owned();
    for picture in pictures {
        let opened = (picture.bytes)()
            .map_err(|error| error.to_string())
            .and_then(|bytes| open(&bytes));
        match opened {
            Ok(image) => {
                let colours = options
                    .colours
                    .unwrap_or(if image.color().has_color() { 3 } else { 1 });
                let (width, height) = (image.width(), image.height());
                let side = match options.side {
                    Some(side) => side,
                    None if width == height => width as usize,
                    None => {
                        return Err(format!(
                            "{}: it has {width} × {height} pixels; say to which side images are to be cropped and \
                             resized (16, 28 or 32)",
                            picture.name
                        ));
                    }
                };
                return Ok(ImageForm { side, colours });
            }
            Err(why) => reason = format!("{}: {why}", picture.name),
        }
        if !options.skip_damaged {
            break;
        }
    }
    Err(reason)
}

fn open(bytes: &[u8]) -> Result<DynamicImage, String> {
    let damaged = |error: &dyn std::fmt::Display| {
        format!("it is damaged or cut off ({error}); get a fresh copy, or skip such pictures")
    };
    if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
        return open_jpeg(bytes).map_err(|error| damaged(&error));
    }
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|error| error.to_string())?;
    match reader.format() {
        Some(ImageFormat::Png) => {}
        Some(ImageFormat::Tiff) => check_tiff(bytes).map_err(|error| damaged(&error))??,
        _ => return Err("it is no PNG, JPEG or TIFF picture".to_owned()),
    }
    let mut limits = Limits::default();
    limits.max_image_width = Some(MOST_SIDE);
    limits.max_image_height = Some(MOST_SIDE);
    limits.max_alloc = Some(MOST_MEMORY);
    reader.limits(limits);
    reader.decode().map_err(|error| match error {
        ImageError::Unsupported(kind) => format!(
            "it is of a kind that is not read here ({kind}); save it as grey or RGB with 8 or 16 bits a channel"
        ),
        ImageError::Limits(limit) => format!("it is too large ({limit}); at most {MOST_SIDE} pixels a side are read"),
        error => damaged(&error),
    })
}

/// Whether a TIFF file holds one picture: of several, nobody has said which.
fn check_tiff(bytes: &[u8]) -> Result<Result<(), String>, tiff::TiffError> {
    let decoder = tiff::decoder::Decoder::new(Cursor::new(bytes))?;
    Ok(if decoder.more_images() {
        Err("it holds several pictures; save each in a file of its own".to_owned())
    } else {
        Ok(())
    })
}

fn open_jpeg(bytes: &[u8]) -> Result<DynamicImage, String> {
    let options = DecoderOptions::default()
        .set_max_width(MOST_SIDE as usize)
        .set_max_height(MOST_SIDE as usize)
        .set_strict_mode(true);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|error| error.to_string())?;
    let is_grey = decoder.input_colorspace() == Some(ColorSpace::Luma);
    let wanted = if is_grey {
        ColorSpace::Luma
    } else {
        ColorSpace::RGB
    };
    decoder.set_options(options.jpeg_set_out_colorspace(wanted));
    let pixels = decoder.decode().map_err(|error| error.to_string())?;
    let (width, height) = decoder.dimensions().ok_or("it has no size")?;
    let (width, height) = (width as u32, height as u32);
    let image = if is_grey {
        image::GrayImage::from_raw(width, height, pixels).map(DynamicImage::ImageLuma8)
    } else {
        image::RgbImage::from_raw(width, height, pixels).map(DynamicImage::ImageRgb8)
    };
    image.ok_or_else(|| "its size does not fit its content".to_owned())
}

fn decode(bytes: &[u8], form: ImageForm, options: &ImageOptions) -> Result<Vec<u8>, String> {
    let image = open(bytes)?;
    if form.colours == 1 && options.colours.is_none() && image.color().has_color() {
        return Err(
            "it is in colour, and the first image is grey; say how many colours all are to have".to_owned(),
        );
    }
    let (width, height) = (image.width(), image.height());
    let side = form.side as u32;
    if options.side.is_none() && (width, height) != (side, side) {
        return Err(format!(
            "it has {width} × {height} pixels, and the first image {side} × {side}; say to which side images are to \
             be cropped and resized (16, 28 or 32)"
        ));
    }
    let square = width.min(height);
    let image = image.crop_imm((width - square) / 2, (height - square) / 2, square, square);
    let image = flat_bytes(image, options)?;
    let image = if square == side {
        image
    } else {
        image.resize_exact(side, side, FilterType::Triangle)
    };
    Ok(if form.colours == 1 {
        image.to_luma8().into_raw()
    } else {
        image.to_rgb8().into_raw()
    })
}

/// Eight bits a channel and no transparency: what shows through is black.
fn flat_bytes(image: DynamicImage, options: &ImageOptions) -> Result<DynamicImage, String> {
    let depth = image.color().bytes_per_pixel() / image.color().channel_count();
    let image = match depth {
        1 => image,
        2 => narrowed(&image, options.window)?,
        _ => {
            let bits = 8 * u32::from(depth);
            return Err(format!("it has {bits} bits a channel; save it with 8 or 16"));
        }
    };
    if !image.color().has_alpha() {
        return Ok(image);
    }
    let mut pixels = image.to_rgba8();
    for pixel in pixels.pixels_mut() {
        let alpha = u16::from(pixel.0[3]);
        for channel in &mut pixel.0[..3] {
            *channel = (u16::from(*channel) * alpha / 255) as u8;
        }
        pixel.0[3] = 255;
    }
    let opaque = DynamicImage::ImageRgba8(pixels);
    Ok(if image.color().has_color() {
        DynamicImage::ImageRgb8(opaque.to_rgb8())
    } else {
        DynamicImage::ImageLuma8(opaque.to_luma8())
    })
}

/// From 16 bits a channel to 8, by the window that is declared; transparency has no window.
fn narrowed(image: &DynamicImage, window: Option<[u16; 2]>) -> Result<DynamicImage, String> {
    let [low, high] = window.ok_or(
        "it has 16 bits a channel; declare the window of values that is to become black to white (--grey-window)",
    )?;
    let narrow = |value: u16| {
        let share = (f32::from(value) - f32::from(low)) / (f32::from(high) - f32::from(low)).max(1.0);
        (share.clamp(0.0, 1.0) * 255.0).round() as u8
    };
    let (width, height) = (image.width(), image.height());
    let image = if image.color().has_color() {
        let pixels = image.to_rgba16().into_raw();
        let bytes = pixels
            .as_chunks()
            .0
            .iter()
            .flat_map(|&[red, green, blue, alpha]| {
                [narrow(red), narrow(green), narrow(blue), (alpha >> 8) as u8]
            });
        image::RgbaImage::from_raw(width, height, bytes.collect()).map(DynamicImage::ImageRgba8)
    } else {
        let pixels = image.to_luma_alpha16().into_raw();
        let bytes = pixels
            .as_chunks()
            .0
            .iter()
            .flat_map(|&[grey, alpha]| [narrow(grey), (alpha >> 8) as u8]);
        image::GrayAlphaImage::from_raw(width, height, bytes.collect()).map(DynamicImage::ImageLumaA8)
    };
    image.ok_or_else(|| "its size does not fit its content".to_owned())
}
