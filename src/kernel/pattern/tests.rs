//! Each pattern has the property that it is named for, whatever the seed.

use super::*;
use crate::kernel::generate::{Fill, contents};

fn floats(pattern: &Pattern, count: usize, seed: u64) -> Vec<f64> {
    let fill = Fill::Pattern { scalar: ScalarType::F64, pattern: pattern.clone() };
    let bytes = contents(&fill, seed, "x", 8 * count as u64);
    bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
}

fn words(pattern: &Pattern, count: usize, seed: u64) -> Vec<u32> {
    let fill = Fill::Pattern { scalar: ScalarType::U32, pattern: pattern.clone() };
    let bytes = contents(&fill, seed, "x", 4 * count as u64);
    bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

#[test]
fn offsets_ascend_from_nothing_to_the_last() {
    for lengths in [Lengths::Constant, Lengths::Uniform, Lengths::PowerLaw] {
        for seed in 0..20 {
            let pattern = Pattern::Offsets { last: 5000.0, lengths, exponent: 2.0 };
            let found = words(&pattern, 1001, seed);
            assert_eq!((found[0], found[1000]), (0, 5000));
            assert!(found.is_sorted());
            let rows: Vec<u32> = found.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let longest = rows.iter().max().unwrap();
            match lengths {
                Lengths::Constant => assert!(rows.iter().all(|row| *row == 5)),
                Lengths::Uniform => assert!((9..=11).contains(longest), "{longest}"),
                Lengths::PowerLaw => assert!(*longest > 60, "{longest}"),
            }
        }
    }
    let pattern = Pattern::Offsets { last: 7.0, lengths: Lengths::Uniform, exponent: 2.0 };
    assert_eq!(words(&pattern, 1, 1), [0]);
}

#[test]
fn a_permutation_has_every_number_once() {
    let mut found = words(&Pattern::Permutation, 1000, 3);
    assert!(!found.is_sorted());
    found.sort_unstable();
    assert!(found.iter().zip(0..).all(|(value, index)| *value == index));
}

#[test]
fn sorted_keys_ascend_but_for_those_that_are_moved() {
    let keys = |moved| words(&Pattern::Sorted { low: 10.0, high: 500.0, moved }, 2000, 1);
    assert!(keys(0.0).is_sorted());
    assert!(keys(0.0).iter().all(|key| (10..500).contains(key)));
    let down = keys(0.1).windows(2).filter(|pair| pair[0] > pair[1]).count();
    assert!((100..300).contains(&down), "{down}");
}

#[test]
fn ids_are_as_often_as_their_rank_says() {
    let found = words(&Pattern::Zipf { ids: 1000.0, exponent: 1.0 }, 100_000, 1);
    assert!(found.iter().all(|id| *id < 1000));
    let often = |id: u32| found.iter().filter(|other| **other == id).count();
    // ln 2 / ln 1001 of them are the first.
    assert!((9_500..10_600).contains(&often(0)), "{}", often(0));
    assert!(often(0) > often(1) && often(1) > often(9) && often(9) > often(99));
}

#[test]
fn points_lie_in_their_box_and_padding_is_zero() {
    let low = vec![-1.0, 0.0, 10.0];
    let high = vec![1.0, 2.0, 11.0];
    let found = floats(&Pattern::Points { low, high, stride: 4 }, 400, 2);
    for point in found.chunks(4) {
        assert!((-1.0..1.0).contains(&point[0]) && (0.0..2.0).contains(&point[1]));
        assert!((10.0..11.0).contains(&point[2]) && point[3] == 0.0);
    }
}

#[test]
fn images_show_what_they_are_named_for() {
    let image =
        |picture| floats(&Pattern::Image { width: 64, of: picture, range: [0.0, 1.0] }, 64 * 64, 1);
    let gradient = image(Picture::Gradient);
    assert!(gradient[..64].is_sorted() && gradient[0] == 0.0 && gradient[63] == 1.0);
    let checkers = image(Picture::Checkers);
    assert_eq!(
        (checkers[7], checkers[8], checkers[8 * 64], checkers[8 * 64 + 8]),
        (0., 1., 1., 0.)
    );
    let noise = image(Picture::Noise);
    assert!(noise.iter().all(|value| (0.0..=1.0).contains(value)));
    let steepest = noise.windows(2).take(63).map(|pair| (pair[0] - pair[1]).abs());
    assert!(steepest.fold(0.0, f64::max) < 0.11, "neighbours are alike");
}

#[test]
fn a_tree_s_children_lie_in_their_parent_and_every_leaf_is_reached() {
    use NodeWord::*;
    let node = vec![MinX, MinY, MinZ, MaxX, MaxY, MaxZ, Left, Right, Skip, First, Count, Leaf];
    for tree in [TreeShape::Complete, TreeShape::Random] {
        let pattern = Pattern::Bvh { leaves: 100, node: node.clone(), tree, siblings: false };
        let words = words(&pattern, 199 * node.len(), 5);
        let nodes: Vec<&[u32]> = words.chunks(node.len()).collect();
        let bound = |node: &[u32], at: usize| f32::from_bits(node[at]);
        let (mut open, mut leaves, mut deepest) = (vec![(0, 1)], 0, 0);
        while let Some((number, depth)) = open.pop() {
            let node = nodes[number];
            deepest = deepest.max(depth);
            if node[11] == 1 {
                assert_eq!((node[10], node[9]), (1, leaves), "leaves come from the left");
                assert_eq!(node[8] as usize, number + 1);
                leaves += 1;
                continue;
            }
            let [left, right] = [node[6] as usize, node[7] as usize];
            assert_eq!((nodes[left][8], nodes[right][8]), (node[7], node[8]));
            for child in [left, right] {
                for axis in 0..3 {
                    assert!(bound(nodes[child], axis) >= bound(node, axis));
                    assert!(bound(nodes[child], axis + 3) <= bound(node, axis + 3));
                }
            }
            open.extend([(right, depth + 1), (left, depth + 1)]);
        }
        assert_eq!(leaves, 100);
        match tree {
            TreeShape::Complete => assert_eq!(deepest, 8),
            TreeShape::Random => assert!(deepest > 8),
        }
    }
}

#[test]
fn siblings_stand_side_by_side_and_a_walk_by_skips_meets_every_node_once() {
    use NodeWord::*;
    let node = vec![LeftOrFirst, LeafCount, Skip, Right, Count];
    for (tree, siblings) in
        [(TreeShape::Complete, true), (TreeShape::Random, true), (TreeShape::Random, false)]
    {
        let pattern = Pattern::Bvh { leaves: 50, node: node.clone(), tree, siblings };
        let words = words(&pattern, 99 * node.len(), 5);
        let nodes: Vec<&[u32]> = words.chunks(node.len()).collect();
        let (mut at, mut met, mut leaves) = (0, 0, 0);
        while at < nodes.len() {
            met += 1;
            let node = nodes[at];
            if node[1] == 1 {
                assert_eq!((node[0], node[4]), (leaves, 1), "leaves come from the left");
                leaves += 1;
                at = node[2] as usize;
                continue;
            }
            assert!(!siblings || node[3] == node[0] + 1);
            let below = nodes[node[0] as usize][4] + nodes[node[3] as usize][4];
            assert_eq!(below, node[4]);
            at = node[0] as usize;
        }
        assert_eq!((met, leaves), (99, 50));
    }
}

/// A tree of which few words are asked for is not walked whole: two to the forty leaves would never end.
#[test]
fn the_first_words_of_a_tree_need_no_more_of_it() {
    let node = vec![NodeWord::MinX, NodeWord::Left, NodeWord::Skip];
    for siblings in [false, true] {
        for tree in [TreeShape::Complete, TreeShape::Random] {
            let tree_of = |leaves| Pattern::Bvh { leaves, node: node.clone(), tree, siblings };
            let whole = words(&tree_of(50), 99 * node.len(), 5);
            for count in [0, 1, 7, 60] {
                assert_eq!(words(&tree_of(50), count, 5), whole[..count], "{count}");
            }
            assert_eq!(words(&tree_of(1 << 40), 60, 5).len(), 60);
        }
    }
}
