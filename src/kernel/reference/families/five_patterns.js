// The references of five_patterns.rs beside this file, as a page in a browser works them out: of each,
// a function of the launch that gives, by an element's number and its input, the map that was done.
"five_patterns/uniform": () => always(steps(1.01, 0.001, 512)),
"five_patterns/branch_by_lane": (launch) => {
  const even = steps(1.01, 0.001, 512);
  const odd = steps(1, 0.001, launch.parameters.form === "published" ? 511 * 512 / 2 : 512);
  return (i) => (i % 256 % 2 ? odd : even);
},
"five_patterns/branch_by_quad": () => {
  const taken = steps(1.001, 0.0001, 2048);
  return (i) => (i % 256 % 4 ? SAME : taken);
},
"five_patterns/early_exit": () => {
  const survivor = steps(1.01, -0.005, 1024);
  return (i, v) => (v < 0.5 ? SAME : survivor);
},
"five_patterns/indirect_branch": () => {
  const arms = [[1.01, 0], [1, 0.01], [1, -0.005], [0.99, 0]].map(([a, b]) => steps(a, b, 256));
  return (i, v) => arms[Math.min(3, Math.floor(4 * v))];
}
