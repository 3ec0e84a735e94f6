//! Claims with their verdicts: for terminals, Markdown and CSV.
//!
//! Input: judged claims. Output: text, or a table. Nothing is judged here.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::fit::{fold, fold_after};
use super::{Cell, Column, Table};
use crate::claims::{Figure, Judged, Verdict, only};

/// The verdicts in the order in which they are counted.
const NAMES: [&str; 5] =
    ["holds", "contradicted", "holds only where", "not testable here", "no claim about machines"];

/// A row a claim, for machines: with the figure that decided, and the ends of the interval that it lies in.
pub fn claims_plain(judged: &[Judged]) -> Table {
    let columns = [
        "id",
        "family",
        "verdict",
        "condition",
        "reason",
        "figure",
        "low",
        "high",
        "claimed",
        "pairs",
        "device",
        "record",
        "repeat",
    ];
    let mut table = Table::new("", columns.map(Column::words));
    for claim in judged {
        let decisive = decisive(claim);
        let decisive_text = |text: fn(&Figure) -> &str| Cell::text(decisive.map_or("", text));
        let number = |value: fn(&Figure) -> f64| {
            Cell::text(decisive.map_or(String::new(), |figure| value(figure).to_string()))
        };
        table.rows.push(vec![
            Cell::text(&claim.claim.id),
            Cell::text(&claim.claim.family),
            Cell::text(claim.verdict.name()),
            Cell::text(claim.verdict.condition().unwrap_or("")),
            Cell::text(&claim.reason),
            number(|figure| figure.value),
            number(|figure| figure.interval[0]),
            number(|figure| figure.interval[1]),
            decisive_text(|figure| &figure.expected),
            Cell::text(pairs_text(claim)),
            decisive_text(|figure| &figure.device),
            decisive_text(|figure| &figure.record),
            decisive_text(|figure| &figure.repeat),
        ]);
    }
    table
}

/// A row a claim, for people: what is claimed, the verdict, why.
pub fn claims_table(judged: &[Judged]) -> Table {
    let columns = ["claim", "verdict", "why"].map(Column::words);
    let mut table = Table::new(claims_counted(judged), columns);
    for claim in judged {
        table.rows.push(vec![
            Cell::Noted(claim.claim.id.clone(), claim.claim.statement.clone()),
            Cell::text(claim.verdict.text()),
            Cell::text(why(claim)),
        ]);
    }
    table
}

/// What is said of a claim and those against it.
fn pairs_text(judged: &Judged) -> String {
    let sentences: Vec<&str> = judged.pairs.iter().map(|pair| pair.says.as_str()).collect();
    sentences.join(" ")
}

/// A claim's reason, and what is said of it and those against it.
fn why(judged: &Judged) -> String {
    if judged.pairs.is_empty() {
        judged.reason.clone()
    } else {
        format!("{}. {}", judged.reason, pairs_text(judged))
    }
}

/// The figure that decided: one that is not as claimed, else the first.
fn decisive(judged: &Judged) -> Option<&Figure> {
    let first = |wanted| judged.figures.iter().find(|figure| figure.as_claimed == Some(wanted));
    // What holds is repeated by what is as claimed, whatever other devices say.
    match judged.verdict {
        Verdict::Holds => first(true).or_else(|| first(false)),
        _ => first(false).or_else(|| first(true)),
    }
}

/// How many claims have each verdict, a sentence.
pub fn claims_counted(judged: &[Judged]) -> String {
    let count = |name: &str| judged.iter().filter(|claim| claim.verdict.name() == name).count();
    let parts: Vec<String> = NAMES
        .iter()
        .map(|name| (name, count(name)))
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{count} {}", in_words(name, count)))
        .collect();
    let claims = super::count_text(judged.len() as u128, "claim");
    format!("{claims}: {}.", parts.join(", "))
}

/// A verdict as what so many claims do.
fn in_words(name: &str, count: usize) -> String {
    let is_single = count == 1;
    match name {
        "holds" => (if is_single { "holds" } else { "hold" }).to_owned(),
        "holds only where" => {
            format!("{} only under a condition", if is_single { "holds" } else { "hold" })
        }
        "contradicted" => format!("{} contradicted", if is_single { "is" } else { "are" }),
        "not testable here" => {
            format!("{} not testable here", if is_single { "is" } else { "are" })
        }
        "no claim about machines" => {
            format!("{} about no machine", if is_single { "is" } else { "are" })
        }
        other => other.to_owned(),
    }
}

/// Claims by family, in the order of names.
fn by_family(judged: &[Judged]) -> BTreeMap<&str, Vec<&Judged>> {
    let mut families: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
    for claim in judged {
        families.entry(&claim.claim.family).or_default().push(claim);
    }
    families
}

/// The verdicts for a terminal of so many columns, folded by family: first the claims that were asked for by these
/// ids, then, each with the reason why it is there, those that are judged with them.
pub fn claims_screen(judged: &[Judged], asked: &[&str], columns: Option<usize>) -> String {
    let mut text = String::new();
    let several = judged.len() > 1;
    // One claim, with those that are judged with it.
    let one_question = judged.iter().any(|claim| claim.pairs.len() + 1 == judged.len());
    if several && !one_question {
        let _ = writeln!(text, "{}\n", fold(&claims_counted(judged), "", columns));
    }
    let mut told = BTreeSet::new();
    let is_open =
        |claim: &&Judged| matches!(claim.verdict, Verdict::NotTestable(_) | Verdict::NoClaim(_));
    let is_beside = |claim: &&Judged| !asked.contains(&claim.claim.id.as_str());
    // What is not decided comes last.
    let mut families: Vec<_> = by_family(judged).into_iter().collect();
    families.sort_by_key(|(_, claims)| (claims.iter().all(is_beside), claims.iter().all(is_open)));
    for (family, mut claims) in families {
        claims.sort_by_key(|claim| (is_beside(claim), is_open(claim)));
        let _ = writeln!(text, "{family}");
        for claim in claims {
            let head = format!("  {}: ", claim.claim.id);
            let verdict = claim.verdict.text();
            let _ = writeln!(text, "{}", fold_after(&head, &verdict, "    ", columns));
            let why_here = is_beside(&claim).then(|| beside_text(claim, asked));
            let lines = claim_lines(claim, one_question, &mut told);
            for line in why_here.into_iter().chain(lines) {
                let _ = writeln!(text, "{}", fold(&line, "    ", columns));
            }
        }
        text.push('\n');
    }
    let _ = writeln!(text, "{}", fold(&claims_counted(judged), "", columns));
    text
}

/// Why a claim is judged that nobody asked for.
fn beside_text(claim: &Judged, asked: &[&str]) -> String {
    let others = claim.pairs.iter().map(|pair| pair.other.as_str());
    let others: Vec<&str> = others.filter(|other| asked.contains(other)).collect();
    format!("Not asked for: it stands here because it says the opposite of {}.", others.join(", "))
}

/// What is said of a claim beneath its verdict, a line each: of one that was asked for every figure in place of those
/// that decided, and what is said of two claims is `told` once.
fn claim_lines(claim: &Judged, one_question: bool, told: &mut BTreeSet<String>) -> Vec<String> {
    let mut lines = vec![format!("Claimed: {}", claim.claim.statement)];
    let is_open = matches!(claim.verdict, Verdict::NotTestable(_) | Verdict::NoClaim(_));
    let figures: &[Figure] = if one_question { &claim.figures } else { &[] };
    if is_open || figures.is_empty() {
        lines.push(claim.reason.clone());
    }
    let records: BTreeSet<&str> = figures.iter().map(|figure| figure.record.as_str()).collect();
    let one_record = records.len() == 1;
    lines.extend(figures.iter().map(|figure| figure_text(figure, !one_record)));
    // In the list of many, the record of the figure that decided.
    let decided = decisive(claim).map(|figure| figure.record.as_str()).filter(|_| !one_question);
    if let Some(record) = decided.filter(|record| !record.is_empty()) {
        lines.push(format!("Record: {record}"));
    }
    if let Some(record) = records.first().filter(|record| one_record && !record.is_empty()) {
        lines.push(format!("Record: {record}"));
    }
    if let Some(doubt) = &claim.doubt {
        let doubted = doubt_text(doubt, &claim.doubt_reason);
        lines.push(format!("The ledger's doubt {doubted}."));
    }
    let pairs = claim.pairs.iter().map(|pair| &pair.says);
    lines.extend(pairs.filter(|says| told.insert((*says).clone()) || !one_question).cloned());
    if let Some(figure) = decisive(claim).filter(|figure| !figure.repeat.is_empty()) {
        lines.push(format!("Repeat: {}", figure.repeat));
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// What follows "The ledger's doubt"; the figures of one that is wrong stand in the reason.
fn doubt_text(doubt: &Verdict, reason: &str) -> String {
    match doubt {
        Verdict::Holds => "is right".to_owned(),
        Verdict::Contradicted => format!("is wrong: {reason}"),
        Verdict::HoldsOnlyWhere(condition) => format!("is right{}", only(condition)),
        Verdict::NotTestable(_) => format!("is not decided here: {reason}"),
        Verdict::NoClaim(why) => format!("is not about machines: {why}"),
    }
}

/// A figure as a sentence, with its record where there are several.
fn figure_text(figure: &Figure, with_record: bool) -> String {
    let so = match figure.as_claimed {
        Some(true) => "as claimed",
        Some(false) => "not as claimed",
        None => "within the noise",
    };
    let [low, high] = figure.interval;
    let value = crate::units::figure(figure.value);
    let interval = if low < high {
        format!(" ({} to {})", crate::units::figure(low), crate::units::figure(high))
    } else {
        String::new()
    };
    let record = match with_record && !figure.record.is_empty() {
        true => format!("; {}", figure.record),
        false => String::new(),
    };
    format!(
        "{}: {value}{interval}, claimed {}: {so} [{}{record}]",
        figure.says, figure.expected, figure.place
    )
}

/// What the texts' checklists ask for, as Markdown: each item with what was measured of the claim behind it.
pub fn claims_checklist(judged: &[Judged]) -> String {
    let clean = |text: &str| text.replace('|', "\\|").replace('<', "&lt;");
    let mut text =
        "| do this | because | measured | the figures that decided |\n|---|---|---|---|\n"
            .to_owned();
    for claim in judged {
        let Some(item) = &claim.claim.item else { continue };
        let (id, statement) = (&claim.claim.id, clean(&claim.claim.statement));
        let verdict = clean(&claim.verdict.text());
        let reason = clean(&claim.reason);
        let _ =
            writeln!(text, "| {} | {statement} (`{id}`) | **{verdict}** | {reason} |", clean(item));
    }
    text
}

/// The verdicts as Markdown, verdict first, folded by family.
pub fn claims_markdown(judged: &[Judged]) -> String {
    let mut text = format!("{}\n", claims_counted(judged));
    for (family, claims) in by_family(judged) {
        let owned: Vec<Judged> = claims.iter().map(|claim| (*claim).clone()).collect();
        let counted = claims_counted(&owned);
        let _ = write!(
            text,
            "\n<details>\n<summary><b>{family}</b>: {counted}</summary>\n\n\
             | verdict | claim | why |\n|---|---|---|\n"
        );
        for claim in claims {
            let clean = |text: &str| text.replace('|', "\\|").replace('<', "&lt;");
            let mut why = clean(&claim.reason);
            if let Some(doubt) = &claim.doubt {
                let doubted = doubt_text(doubt, &claim.doubt_reason);
                let _ = write!(why, "<br>The ledger's doubt {}.", clean(&doubted));
            }
            for pair in &claim.pairs {
                let _ = write!(why, "<br>{}", clean(&pair.says));
            }
            if let Some(figure) = decisive(claim) {
                if !figure.record.is_empty() {
                    let _ = write!(why, "<br>{}", clean(&figure.record));
                }
                if !figure.repeat.is_empty() {
                    let _ = write!(why, "<br>`{}`", clean(&figure.repeat));
                }
            }
            let verdict = clean(&claim.verdict.text());
            let (id, statement) = (&claim.claim.id, clean(&claim.claim.statement));
            let _ = writeln!(text, "| **{verdict}** | `{id}`<br>{statement} | {why} |");
        }
        text.push_str("\n</details>\n");
    }
    text
}
