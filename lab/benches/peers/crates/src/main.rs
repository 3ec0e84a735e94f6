//! Sorts, scans, sums and compactions of crates for wgpu, one sample for each line that is read from
//! standard input.
//!
//! Usage: peers-of-crates CRATE WORK N SETS REPEATS
//!   CRATE    lampshade or wgpu_sort
//!   WORK     sort_pairs_u32, sort_keys_u32, scan_u32, reduce_u32, compact_half; of wgpu_sort
//!            sort_pairs_u32 alone
//!   N        elements
//!   SETS     copies of the buffers, used in turn: 1 for a warm cache
//!   REPEATS  calls of a sample, each between two timestamps
//! Prints "ready" once the result has been verified, then nanoseconds a call for each line.
//!
//! Sorts that work in place get their unordered keys back before each call, outside what is timed:
//! data that are in order already would be moved sooner.

mod lampshade_peer;
mod wgpu_sort_peer;

use std::io::BufRead;

use anyhow::{Context, Result, bail, ensure};

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    SortPairs,
    SortKeys,
    Scan,
    Reduce,
    Compact,
}

/// What takes samples.
pub trait Side {
    /// Nanoseconds of each of `repeats` calls.
    fn sample(&mut self, repeats: u32) -> Result<Vec<f64>>;
    /// What was written by the last call on the first copy.
    fn outputs(&mut self) -> Result<[Vec<u32>; 2]>;
}

/// The contents of the inputs: a hash of the index.
pub fn key(index: u64) -> u32 {
    let mut z = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z >> 32) as u32
}

/// The payload, or the flag, of an element.
pub fn second(work: Work, index: u64) -> u32 {
    match work {
        Work::Compact => key(index) >> 31,
        _ => index as u32,
    }
}

fn verify(work: Work, n: usize, [first, second]: &[Vec<u32>; 2]) -> Result<()> {
    let keys: Vec<u32> = (0..n as u64).map(key).collect();
    match work {
        Work::SortPairs | Work::SortKeys => {
            let mut order: Vec<u32> = (0..n as u32).collect();
            order.sort_by_key(|index| keys[*index as usize]);
            let right = order.iter().enumerate().all(|(place, index)| {
                let payload = work == Work::SortKeys || second[place] == *index;
                first[place] == keys[*index as usize] && payload
            });
            ensure!(right, "the order is wrong");
        }
        Work::Scan => {
            let mut sum = 0_u32;
            for (index, key) in keys.iter().enumerate() {
                sum = sum.wrapping_add(*key);
                ensure!(first[index] == sum, "prefix sum {index} is wrong");
            }
        }
        Work::Reduce => {
            let sum = keys.iter().fold(0_u32, |sum, key| sum.wrapping_add(*key));
            ensure!(first[0] == sum, "the sum is wrong");
        }
        Work::Compact => {
            let kept: Vec<u32> = keys.into_iter().filter(|key| key >> 31 == 1).collect();
            ensure!(second[0] as usize == kept.len(), "{} are kept", second[0]);
            ensure!(first[..kept.len()] == kept, "what is kept is wrong");
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, work, n, sets, repeats] = &arguments[..] else {
        bail!("usage: peers-of-crates CRATE WORK N SETS REPEATS");
    };
    let work = match work.as_str() {
        "sort_pairs_u32" => Work::SortPairs,
        "sort_keys_u32" => Work::SortKeys,
        "scan_u32" => Work::Scan,
        "reduce_u32" => Work::Reduce,
        "compact_half" => Work::Compact,
        other => bail!("no such work: {other}"),
    };
    let (n, sets, repeats): (u32, usize, u32) = (n.parse()?, sets.parse()?, repeats.parse()?);
    ensure!(n > 0 && sets > 0 && repeats > 0, "N, SETS and REPEATS are at least 1");
    let mut side: Box<dyn Side> = match name.as_str() {
        "lampshade" => Box::new(lampshade_peer::Peer::new(work, n, sets)?),
        "wgpu_sort" if work == Work::SortPairs => {
            Box::new(wgpu_sort_peer::Peer::new(n, sets)?)
        }
        other => bail!("{other} has no {work:?} here"),
    };
    side.sample(1)?;
    let written = side.outputs()?;
    verify(work, n as usize, &written).with_context(|| name.clone())?;
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        line?;
        let times = side.sample(repeats)?;
        println!("{:.3}", times.iter().sum::<f64>() / times.len() as f64);
    }
    Ok(())
}
