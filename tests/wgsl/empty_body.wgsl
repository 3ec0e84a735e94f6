// Question: does an empty kernel have anything to count?
// Dispatch: any. Divergence: none.
@compute @workgroup_size(64)
fn main() {
}
