//! Items that the user hides: single marks, and all items with a sign of the legend.

use std::collections::BTreeSet;

use super::content::{Course, Hue, Origin, Sign, Stroke};
use super::{Figure, Item};

/// What a view hides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// Objects whose marks are hidden, see [`MarkId::of`](super::MarkId::of).
    objects: BTreeSet<i64>,
    signs: Vec<Sign>,
}

impl Hidden {
    /// Hides the marks of an object.
    pub fn hide(&mut self, object: i64) {
        self.objects.insert(object);
    }

    /// Hides all items with a sign, or shows them again.
    pub fn toggle(&mut self, sign: Sign) {
        let known = self.signs.iter().position(|hidden| *hidden == sign);
        match known {
            Some(index) => drop(self.signs.remove(index)),
            None => self.signs.push(sign),
        }
    }

    /// Whether nothing is hidden.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.signs.is_empty()
    }

    fn hides(&self, item: &Item) -> bool {
        let sign = |sign| self.signs.contains(&sign);
        let origin = |origin: Origin| sign(Sign::Origin(origin));
        let hue = |hue: Hue| sign(Sign::Hue(hue));
        let stroke = |stroke: Stroke| sign(Sign::Stroke(stroke));
        match item {
            Item::Mark(mark) => {
                self.objects.contains(&mark.id.of) || origin(mark.origin) || hue(mark.hue)
            }
            Item::Line(line) => stroke(line.stroke) || hue(line.hue),
            Item::Band(band) => hue(band.hue),
            Item::Bar(bar) => self.objects.contains(&bar.id.of) || origin(bar.origin),
            Item::Span(span) => origin(span.origin) || hue(span.hue),
            Item::Arrow(arrow) => hue(arrow.hue),
            Item::Cloud(cloud) => origin(cloud.origin) || hue(cloud.hue),
        }
    }
}

impl Figure {
    /// The figure without hidden items. The legend keeps all entries, and paths pass by hidden marks.
    #[must_use]
    pub fn without(&self, hidden: &Hidden) -> Self {
        let gone: Vec<(f64, f64)> = self
            .items
            .iter()
            .filter(|item| hidden.hides(item))
            .filter_map(Item::mark)
            .map(|mark| (mark.x.value, mark.y.value))
            .collect();
        let mut items: Vec<Item> =
            self.items.iter().filter(|item| !hidden.hides(item)).cloned().collect();
        items.retain_mut(|item| match item {
            Item::Line(line) => match &mut line.course {
                Course::Path(points) => {
                    points.retain(|point| !gone.contains(point));
                    !points.is_empty()
                }
                Course::Level { .. } | Course::Upright { .. } | Course::Proportional { .. } => true,
            },
            Item::Arrow(arrow) => !gone.contains(&arrow.from) && !gone.contains(&arrow.to),
            Item::Bar(bar) => {
                if hidden.signs.contains(&Sign::Second) {
                    bar.second = None;
                }
                true
            }
            Item::Mark(_) | Item::Band(_) | Item::Span(_) | Item::Cloud(_) => true,
        });
        let (title, x, y) = (self.title.clone(), self.x.clone(), self.y.clone());
        Self { title, x, y, items, key: self.key(), hidden: hidden.signs.clone() }
    }

    /// Whether the items of a sign are hidden.
    pub(super) fn is_hidden(&self, sign: Sign) -> bool {
        self.hidden.contains(&sign)
    }
}
