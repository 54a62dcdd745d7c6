//! What benches share.

/// A table of ages, amounts and cities, and its schema beside it, all declared.
pub fn write_table(path: &std::path::Path, rows: usize) {
    use std::io::Write as _;
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).expect("a file to write"));
    writeln!(file, "age,amount,city").expect("room on the disk");
    for row in 0..rows {
        writeln!(
            file,
            "{},{}.{:02},city {}",
            17 + row * 7 % 70,
            row * 31 % 9000,
            row % 100,
            row * 13 % 40,
        )
        .expect("room on the disk");
    }
    let cities: Vec<String> = (0..40).map(|city| format!("\"city {city}\"")).collect();
    let schema = format!(
        "version = 1\n[[column]]\nname = \"amount\"\nkind = \"continuous\"\nlower = 0.0\nupper = 9000.0\nprovenance = \"declared\"\n\
         [[column]]\nname = \"age\"\nkind = \"integer\"\nlower = 0\nupper = 120\nprovenance = \"declared\"\n\
         [[column]]\nname = \"city\"\nkind = \"categorical\"\ndomain = [{}]\nprovenance = \"declared\"\n",
        cities.join(", ")
    );
    std::fs::write(path.with_file_name("million.schema.toml"), schema).expect("room on the disk");
}
