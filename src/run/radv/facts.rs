//! From what the driver says to what the interpreter needs: the code's words and the registers at the
//! start.
//!
//! Input: a pipeline cache, statistics, and three texts that RADV gives: the NIR, the ACO IR, the
//! listing. Output: words and [`Facts`]. The words are the cache's, never read from the listing,
//! whose text leaves instructions out; the listing only says where in the cache they begin, and each
//! word that it shows must be there in the same order.
//!
//! The registers at the start follow from two texts: the first instruction of the ACO IR names them in
//! order, the NIR names the system values that are read. The order is RADV's: the address of its
//! rings, an address for each descriptor set, the grid's size, the workgroup's place, the wave's
//! number, the offset in scratch memory. What is left over or missing is an error.

use super::driver::Output;
use crate::amd::{Code, Facts, FloatMode, Start};

/// What could not be made out, in a sentence.
type Failure = String;

/// The words of the code: those that are executed, without the constants behind them.
pub(super) fn words(output: &Output) -> Result<Vec<u32>, Failure> {
    let bytes =
        usize::try_from(statistic(output, "Code size")?).map_err(|_| "code of this size")?;
    let listed = parse_words(text(output, "Assembly")?)?;
    let first: Vec<u8> =
        listed.iter().take(bytes.min(16) / 4).flat_map(|word| word.to_le_bytes()).collect();
    let cache = output.cache.as_slice();
    let mut places = (0..cache.len().saturating_sub(bytes.max(1) - 1))
        .step_by(4)
        .filter(|place| cache[*place..].starts_with(&first));
    let (Some(place), None) = (places.next(), places.next()) else {
        return Err("the code's beginning is not in the pipeline cache exactly once".to_owned());
    };
    let (words, _) = cache[place..place + bytes].as_chunks::<4>();
    let words: Vec<u32> = words.iter().copied().map(u32::from_le_bytes).collect();
    let mut left = words.iter();
    if let Some(word) = listed.iter().find(|word| !left.any(|found| found == *word)) {
        return Err(format!("the listing shows {word:#010x}, which the pipeline cache does not"));
    }
    Ok(words)
}

/// The words that the listing shows, each line's behind its text.
fn parse_words(text: &str) -> Result<Vec<u32>, Failure> {
    let lines = text.lines().filter_map(|line| line.split_once(';'));
    let words = lines.flat_map(|(_, words)| words.split_whitespace());
    words
        .map(|word| {
            u32::from_str_radix(word, 16).map_err(|_| format!("the listing has {word:?} as a word"))
        })
        .collect()
}

/// What is known of the code; `groups` are the descriptor sets that it binds, ascending.
pub(super) fn facts(
    output: &Output,
    wave: u32,
    workgroup: [u32; 3],
    groups: &[u32],
) -> Result<Facts, Failure> {
    let small = |name| {
        statistic(output, name)
            .and_then(|value| u32::try_from(value).map_err(|_| format!("{name}: {value}")))
    };
    Ok(Facts {
        wave,
        vectors: small("VGPRs")?,
        local_bytes: small("LDS size")?,
        // The driver's figure is of a wave.
        scratch_bytes: small("Scratch size")?.div_ceil(wave),
        workgroup,
        scalars: scalars(output, groups)?,
        // Mesa's instruction selection flushes f32 unless a module asks to keep denormals, which naga's SPIR-V never
        // does, and keeps those of f16.
        mode: FloatMode { flush32: true },
    })
}

fn statistic(output: &Output, name: &str) -> Result<u64, Failure> {
    let found = output.statistics.iter().find(|(statistic, _)| statistic == name);
    found.map(|(_, value)| *value).ok_or_else(|| format!("the driver has no figure {name:?}"))
}

pub(super) fn text<'a>(output: &'a Output, name: &str) -> Result<&'a str, Failure> {
    let found = output.texts.iter().find(|(title, _)| title.starts_with(name));
    found.map(|(_, text)| text.as_str()).ok_or_else(|| format!("the driver has no text {name:?}"))
}

/// What the scalar registers hold at the start.
fn scalars(output: &Output, groups: &[u32]) -> Result<Vec<Start>, Failure> {
    let given = parse_given_registers(text(output, "ACO IR")?)?;
    // From Mesa 23 on an intrinsic is `@load_…` in place of `intrinsic load_…`.
    let nir = text(output, "NIR Shader(s)")?.replace("= @", "= intrinsic ").replace('\n', " \n");
    let nir = nir.as_str();
    if nir.contains("load_push_constant") {
        return Err("the code reads immediates, whose registers are not known".to_owned());
    }
    let mut starts = vec![Start::Unused(2)];
    starts.extend(groups.iter().map(|group| Start::Descriptors(*group)));
    if nir.contains("intrinsic load_num_workgroups") {
        starts.push(Start::Grid);
    }
    starts
        .extend((0..3).filter(|axis| reads(nir, "load_workgroup_id", *axis)).map(Start::Workgroup));
    let numbered = ["load_subgroup_id", "load_num_subgroups", "load_local_invocation_index"];
    // From Mesa 23 on these are arguments by the time that the text shows: one beyond the sets' addresses.
    let mut arguments: Vec<&str> = nir.split("load_scalar_arg_amd (base=").skip(1).collect();
    arguments.iter_mut().for_each(|rest| *rest = rest.split([',', ')']).next().unwrap_or_default());
    arguments.sort_unstable();
    arguments.dedup();
    if arguments.len() > groups.len()
        || numbered.iter().any(|name| nir.contains(&format!("intrinsic {name} ")))
    {
        starts.push(Start::WaveNumber);
    }
    let taken =
        |starts: &[Start]| starts.iter().map(|start| u32::from(start.registers())).sum::<u32>();
    // Where a workgroup is one wave, Mesa from 23 on knows the number, and the register is given all the same.
    if taken(&starts) + 2 == given {
        starts.push(Start::Unused(1));
    }
    starts.push(Start::Unused(1));
    let taken = taken(&starts);
    if taken != given {
        return Err(format!(
            "the code begins with {given} scalar registers, and {taken} are accounted for: {starts:?}"
        ));
    }
    Ok(starts)
}

/// The scalar registers that the first instruction of the ACO IR defines, which must lie in a row from
/// the first on.
fn parse_given_registers(ir: &str) -> Result<u32, Failure> {
    let line = ir.lines().find(|line| line.contains("= p_startpgm"));
    let line = line.ok_or("the ACO IR has no p_startpgm")?;
    let (defined, _) = line.split_once('=').unwrap_or_default();
    let mut next = 0;
    for definition in defined.split(",  ") {
        let (size, _) =
            definition.trim().split_once(':').ok_or("p_startpgm defines something else")?;
        let Some(count) = size.strip_prefix('s') else { continue };
        let count: u32 = count.parse().map_err(|_| format!("p_startpgm defines {definition:?}"))?;
        let place = match count {
            1 => format!(":s[{next}]"),
            count => format!(":s[{next}-{}]", next + count - 1),
        };
        if !definition.contains(&place) {
            return Err(format!("p_startpgm defines {definition:?}, expected {place}"));
        }
        next += count;
    }
    Ok(next)
}

/// Whether a component of a vector of system values is read.
fn reads(nir: &str, intrinsic: &str, axis: u8) -> bool {
    let component = [".x", ".y", ".z"][usize::from(axis)];
    let marked = format!("= intrinsic {intrinsic} ");
    let lines = nir.lines().filter(|line| line.contains(&marked));
    let mut names = lines.filter_map(|line| {
        line.split_once(" = ").and_then(|(left, _)| left.split_whitespace().last())
    });
    names.any(|name| {
        let used = format!("{name}{component}");
        nir.match_indices(&used).any(|(at, _)| {
            let behind = nir[at + used.len()..].chars().next();
            behind.is_none_or(|next| !next.is_ascii_alphanumeric() && next != '_')
        })
    })
}

/// The text of each instruction's line, for people; a line that LLVM leaves out, since the instruction is the one
/// before again, has that one's, and one that it misprints has none here.
pub(super) fn lines(code: &Code, words: &[u32], listing: &str) -> Vec<Option<String>> {
    let mut listed = listing.lines().filter_map(parse_line).peekable();
    let mut texts: Vec<Option<String>> = Vec::new();
    for (index, instruction) in code.instructions().iter().enumerate() {
        let at = code.offset(index) / 4;
        let encoded = &words[at..at + instruction.length];
        let mut found = None;
        // A line of other words is skipped where one of the next has them; not for an instruction that repeats
        // the one before, whose line may be left out.
        let repeats = index > 0 && words[..at].ends_with(encoded);
        let mut next = listed.clone().take(if repeats { 1 } else { 3 });
        let ahead = next.position(|(_, shown)| shown == encoded);
        if let Some(skipped) = ahead {
            found = listed.nth(skipped).map(|(text, _)| text);
        }
        let again = || texts.last().cloned().flatten().filter(|_| repeats);
        texts.push(found.or_else(again));
    }
    texts
}

/// A line's text and words.
fn parse_line(line: &str) -> Option<(String, Vec<u32>)> {
    let (text, words) = line.split_once(';')?;
    let words = words.split_whitespace().map(|word| u32::from_str_radix(word, 16).ok());
    Some((text.trim().to_owned(), words.collect::<Option<Vec<u32>>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a driver says of code of six words.
    fn output(cache: &[u32], listing: &str) -> Output {
        Output {
            statistics: vec![("Code size".to_owned(), 24)],
            texts: vec![("Assembly".to_owned(), listing.to_owned())],
            cache: cache.iter().flat_map(|word| word.to_le_bytes()).collect(),
        }
    }

    /// The same of the registers at its start.
    fn registers(ir: &str) -> Result<Vec<Start>, Failure> {
        let nir = "vec3 32 ssa_1 = intrinsic load_workgroup_id () ()\n\
                   vec1 32 ssa_2 = ishl ssa_1.x, ssa_0";
        let texts = [("NIR Shader(s)", nir), ("ACO IR", ir)];
        let texts = texts.map(|(name, text)| (name.to_owned(), text.to_owned())).to_vec();
        scalars(&Output { texts, ..Output::default() }, &[0])
    }

    #[test]
    fn words_are_the_pipeline_caches_and_not_the_listings() {
        let code = [0x7e00_0301, 0x7e02_0302, 0xbf8c_0070, 0xbf80_0000, 0xbf80_0000, 0xbf81_0000];
        // The listing leaves out an instruction that is the one before again.
        let listing = "v_mov_b32_e32 v0, v1 ; 7e000301\nv_mov_b32_e32 v1, v2 ; 7e020302\n\
                       s_waitcnt vmcnt(0) ; bf8c0070\ns_nop 0 ; bf800000\n\
                       (then repeated 1 times)\ns_endpgm ; bf810000";
        let around = |code: &[u32]| [&[1, 2][..], code, &[3]].concat();
        assert_eq!(words(&output(&around(&code), listing)), Ok(code.to_vec()));
        let other = listing.replace("bf810000", "bf820001");
        let why = words(&output(&around(&code), &other)).unwrap_err();
        assert!(why.contains("0xbf820001, which the pipeline cache does not"), "{why}");
        for cache in [[code, code].concat(), around(&code[1..])] {
            let why = words(&output(&cache, listing)).unwrap_err();
            assert!(why.contains("exactly once"), "{why}");
        }
    }

    #[test]
    fn every_register_of_the_start_is_accounted_for() {
        let ir =
            "s2: %1:s[0-1],  s1: %2:s[2],  s1: %3:s[3],  s1: %4:s[4],  v1: %5:v[0] = p_startpgm";
        let expected =
            vec![Start::Unused(2), Start::Descriptors(0), Start::Workgroup(0), Start::Unused(1)];
        assert_eq!(registers(ir), Ok(expected));
        let more = ir.replace("v1: %5", "s2: %6:s[5-6],  v1: %5");
        let why = registers(&more).unwrap_err();
        assert!(why.contains("7 scalar registers, and 5 are accounted for"), "{why}");
        let apart = ir.replace("s[3]", "s[9]");
        assert!(registers(&apart).unwrap_err().contains("expected :s[3]"));
        assert!(registers("s1: %1 = p_parallelcopy").unwrap_err().contains("no p_startpgm"));
    }
}
