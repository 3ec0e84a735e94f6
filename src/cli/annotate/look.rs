//! How the annotated listing looks: how wide it is, and its colours.
//!
//! Input: what standard output is. Output: text with or without colours; it writes nothing.

use clap::builder::styling::{Ansi256Color, Color, Style};

use crate::present;
use crate::present::fit::fold;
/// How a profile is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// The terminal's columns; `None` if it is no terminal, and nothing is cut.
    pub(crate) columns: Option<usize>,
    /// Whether colours are shown.
    pub(crate) colour: bool,
}

impl Look {
    /// What suits standard output: its width where it is a terminal, colours where it wants any
    /// (`NO_COLOR`, `CLICOLOR` and their like are respected).
    pub(crate) fn of_stdout() -> Self {
        let choice = anstream::AutoStream::choice(&std::io::stdout());
        Self {
            columns: present::terminal_columns(),
            colour: choice != anstream::ColorChoice::Never,
        }
    }

    pub(super) fn paint(self, style: Style, text: &str) -> String {
        if self.colour && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    pub(super) fn heading(self, text: &str) -> String {
        format!("\n{}\n", self.paint(Style::new().bold(), &fold(text, "", self.columns)))
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }
}

fn to_style(number: u8) -> Style {
    Style::new().fg_color(Some(Color::Ansi256(Ansi256Color(number))))
}

/// Blue: what was active.
pub(super) fn blue() -> Style {
    to_style(32)
}

/// Orange: what was idle.
pub(super) fn orange() -> Style {
    to_style(208)
}
