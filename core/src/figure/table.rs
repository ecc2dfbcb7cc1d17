//! A figure as text: a card for one value, a table for all values.

use lightbench_primitives::display_text::in_spreadsheet;

use super::content::{Bar, Mark, Meaning, Reading, Span};
use super::{Axis, Figure, Item, Unit, Vertical};

/// The card of one value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    /// The name.
    pub title: String,
    /// Names and values.
    pub rows: Vec<(String, String)>,
}

/// A table of all values of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The column headings.
    pub headings: Vec<String>,
    /// Rows of cells, one for each heading.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The text for display.
    pub shown: String,
    /// For programs: all digits, no unit.
    pub exact: String,
}

impl Cell {
    fn words(text: &str) -> Self {
        Self { shown: text.to_owned(), exact: text.to_owned() }
    }

    fn number(value: f64, unit: Unit) -> Self {
        Self { shown: unit.show(value), exact: format!("{value:e}") }
    }
}

impl Figure {
    /// The card of an item.
    #[must_use]
    pub fn card(&self, item: &Item) -> Card {
        match item {
            Item::Mark(mark) => self.card_of_mark(mark),
            Item::Bar(bar) => self.card_of_bar(bar),
            Item::Span(span) => self.card_of_span(span),
            Item::Line(line) => match &line.meaning {
                Some(Meaning { name, value, unit, origin }) => {
                    Card { title: name.clone(), rows: vec![(origin.clone(), unit.show(*value))] }
                }
                None => Card::default(),
            },
            Item::Band(_) | Item::Arrow(_) | Item::Cloud(_) => Card::default(),
        }
    }

    fn card_of_mark(&self, mark: &Mark) -> Card {
        let mut rows = vec![(title_of(self.x()), shown(mark.x, self.x().unit))];
        if let Vertical::Axis(axis) = self.y() {
            rows.push((title_of(axis), shown(mark.y, axis.unit)));
        }
        rows.extend(mark.details.iter().cloned());
        rows.push(("Origin".to_owned(), mark.origin.word().to_owned()));
        Card { title: mark.name.clone(), rows }
    }

    fn card_of_bar(&self, bar: &Bar) -> Card {
        let row = self.row(bar.row);
        let unit = self.x().unit;
        let mut rows = vec![(title_of(self.x()), unit.show(bar.value))];
        rows.extend(bar.second.map(|second| ("Compared with".to_owned(), unit.show(second))));
        rows.extend(bar.details.iter().cloned());
        rows.push(("Origin".to_owned(), bar.origin.word().to_owned()));
        Card { title: row.to_owned(), rows }
    }

    fn card_of_span(&self, span: &Span) -> Card {
        let (start, end) = span.x;
        let shown = |value| self.x().unit.show(value);
        let rows = [
            (span.name.clone(), shown(end - start)),
            ("From".to_owned(), shown(start)),
            ("To".to_owned(), shown(end)),
            ("Origin".to_owned(), span.origin.word().to_owned()),
        ];
        Card { title: self.row(span.row).to_owned(), rows: rows.into() }
    }

    fn row(&self, index: usize) -> &str {
        match self.y() {
            Vertical::Rows(rows) => rows.get(index).map_or("", |row| row.name.as_str()),
            Vertical::Axis(_) => "",
        }
    }

    /// Every value that can be chosen, and every line that means something.
    #[must_use]
    pub fn table(&self) -> Table {
        let horizontal = title_of(self.x());
        let mut headings = vec![
            "Name".to_owned(),
            horizontal.clone(),
            format!("{horizontal}, from"),
            format!("{horizontal}, to"),
        ];
        match self.y() {
            Vertical::Axis(axis) => {
                let title = title_of(axis);
                headings.extend([title.clone(), format!("{title}, from"), format!("{title}, to")]);
            }
            Vertical::Rows(_) => headings.push("Compared with".to_owned()),
        }
        headings.push("Origin".to_owned());
        let rows = self.items().iter().filter_map(|item| self.line(item, headings.len())).collect();
        Table { headings, rows }.without_empty_columns()
    }

    fn line(&self, item: &Item, width: usize) -> Option<Vec<Cell>> {
        let numbers = |reading: Reading, unit: Unit| {
            let (low, high) = reading.interval.unzip();
            let end =
                |end: Option<f64>| end.map_or_else(Cell::default, |end| Cell::number(end, unit));
            [Cell::number(reading.value, unit), end(low), end(high)]
        };
        let (name, cells, origin) = match item {
            Item::Mark(mark) => {
                let mut cells = numbers(mark.x, self.x().unit).to_vec();
                match self.y() {
                    Vertical::Axis(axis) => cells.extend(numbers(mark.y, axis.unit)),
                    Vertical::Rows(_) => cells.push(Cell::default()),
                }
                (mark.name.clone(), cells, mark.origin.word().to_owned())
            }
            Item::Bar(bar) => {
                let mut cells = numbers(bar.value.into(), self.x().unit).to_vec();
                let second = bar.second.map(|second| Cell::number(second, self.x().unit));
                cells.push(second.unwrap_or_default());
                (self.row(bar.row).to_owned(), cells, bar.origin.word().to_owned())
            }
            Item::Line(line) => {
                let Meaning { name, value, unit, origin } = line.meaning.clone()?;
                let mut cells = vec![Cell::default(); width - 2];
                // A ceiling is a vertical value; with rows it is a horizontal value.
                let column = match self.y() {
                    Vertical::Axis(_) => 3,
                    Vertical::Rows(_) => 0,
                };
                *cells.get_mut(column)? = Cell::number(value, unit);
                (name, cells, origin)
            }
            Item::Span(span) => {
                let number = |value| Cell::number(value, self.x().unit);
                let cells =
                    vec![Cell::default(), number(span.x.0), number(span.x.1), Cell::default()];
                let name = format!("{}, {}", self.row(span.row), span.name);
                (name, cells, span.origin.word().to_owned())
            }
            Item::Band(_) | Item::Arrow(_) | Item::Cloud(_) => return None,
        };
        let mut row = vec![Cell::words(&name)];
        row.extend(cells);
        row.push(Cell::words(&origin));
        Some(row)
    }

    /// The table as comma-separated values.
    ///
    /// # Errors
    /// The table cannot be written, which in memory does not happen.
    pub fn csv(&self) -> Result<String, csv::Error> {
        let table = self.table();
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&table.headings)?;
        for row in &table.rows {
            writer.write_record(row.iter().map(|cell| match cell.exact.parse::<f64>() {
                Ok(_) => cell.exact.clone(),
                Err(_) => in_spreadsheet(&cell.exact),
            }))?;
        }
        let bytes = writer.into_inner().map_err(|error| error.into_error())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Table {
    /// Empty columns are left out.
    fn without_empty_columns(self) -> Self {
        let is_used = |column: usize| {
            self.rows.iter().any(|row| row.get(column).is_some_and(|cell| !cell.shown.is_empty()))
        };
        let used: Vec<usize> = (0..self.headings.len()).filter(|column| is_used(*column)).collect();
        let headings = used.iter().map(|column| self.headings[*column].clone()).collect();
        let rows = self
            .rows
            .iter()
            .map(|row| used.iter().map(|column| row[*column].clone()).collect())
            .collect();
        Self { headings, rows }
    }
}

fn title_of(axis: &Axis) -> String {
    if axis.title.is_empty() { "Value".to_owned() } else { axis.title.clone() }
}

fn shown(reading: Reading, unit: Unit) -> String {
    match reading.interval {
        Some((low, high)) => {
            format!("{} ({} to {})", unit.show(reading.value), unit.show(low), unit.show(high))
        }
        None => unit.show(reading.value),
    }
}
