//! One page of many records: devices, what their kernels show, claims that differ between them.
//!
//! Input: runs, one after the other. Output: the text of a page that needs no other file, and the same
//! tables for terminals. A run is let go of once it was added. Claims are judged record by record, so that no
//! figure depends on the order in which records are named.

use std::collections::BTreeMap;

use minijinja::value::Serde;
use serde::Serialize;

use super::{ReportError, environment, table::TableText};
use crate::analyze::{Gallery, GalleryKey};
use crate::claims;
use crate::present::{self, Table};
use crate::record::Run;

/// The template's name; its ending turns HTML escaping on.
const TEMPLATE: &str = "gallery.html";

/// Records as they are added.
#[derive(Debug, Default)]
pub struct GalleryPage {
    gallery: Gallery,
    /// By claim, verdict and device the records that it was found of.
    verdicts: BTreeMap<String, BTreeMap<&'static str, BTreeMap<GalleryKey, u64>>>,
}

/// Everything on the page.
#[derive(Debug, Serialize)]
struct Page {
    runs: u64,
    attested: Vec<TableText>,
    unattested: Vec<TableText>,
    claims: Option<TableText>,
}

impl GalleryPage {
    /// Adds a run.
    ///
    /// # Errors
    ///
    /// [`ReportError::Claims`], a fault of lanescope's own.
    pub fn add(&mut self, run: &Run) -> Result<(), ReportError> {
        for (id, key) in self.gallery.add(run) {
            let mut cleaned = run.clone();
            cleaned.devices.retain(|device| device.id == id);
            cleaned.measurements.retain(|measurement| measurement.device == id);
            for judged in claims::judge_touched(&[cleaned])? {
                let verdicts = self.verdicts.entry(judged.claim.id.clone()).or_default();
                let devices = verdicts.entry(judged.verdict.name()).or_default();
                *devices.entry(key.clone()).or_default() += 1;
            }
        }
        Ok(())
    }

    /// The tables, those of attested records first.
    pub fn tables(&self) -> Vec<Table> {
        let tables_of = |unattested| present::gallery(&self.gallery, unattested);
        tables_of(false).into_iter().chain(tables_of(true)).chain(self.claims()).collect()
    }

    /// The claims that are worth different things on different devices.
    fn claims(&self) -> Option<Table> {
        let differing = self.verdicts.iter().filter(|(_, verdicts)| verdicts.len() > 1);
        let rows = differing.flat_map(|(claim, verdicts)| {
            verdicts.iter().map(move |(verdict, keys)| (claim.as_str(), *verdict, keys))
        });
        present::gallery_claims(rows)
    }

    /// Makes the page.
    ///
    /// # Errors
    ///
    /// [`ReportError::Template`], a fault of lanescope's own.
    pub fn html(&self) -> Result<String, ReportError> {
        let texts = |unattested| {
            present::gallery(&self.gallery, unattested).into_iter().map(TableText::from).collect()
        };
        let page = Page {
            runs: self.gallery.runs,
            attested: texts(false),
            unattested: texts(true),
            claims: self.claims().map(TableText::from),
        };
        let mut environment = environment()?;
        environment.add_template(TEMPLATE, include_str!("gallery.html"))?;
        Ok(environment.get_template(TEMPLATE)?.render(Serde(page))?)
    }
}
