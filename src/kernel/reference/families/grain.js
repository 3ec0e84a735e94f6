// The references of grain.rs beside this file, as a page in a browser works them out: of each, a
// function of the launch that gives, by an element's number, the map that was done.
"grain/run_lengths": (launch) => {
  const { run, work } = launch.parameters;
  const [rising, falling] = arms(work);
  const offsets = launch.words("offsets");
  return (i) => ((i + offsets[i >>> 8]) % (2 * run) < run ? rising : falling);
},
"grain/trips": (launch) => {
  const { wavelength } = launch.parameters;
  const nodes = launch.words("nodes");
  const known = [];
  return (i) => {
    const at = Math.floor(i / wavelength);
    const [from, to] = [nodes[at], nodes[at + 1]];
    const trips = Math.floor(from + (to - from) * (i % wavelength) / wavelength);
    return (known[trips] ??= steps(...FALLING, trips));
  };
},
"grain/small_workgroups": (launch) => always(steps(...FALLING, launch.parameters.work)),
"grain/image_tiles": (launch) => {
  const { columns, region, work, edge } = launch.parameters;
  const [rising, falling] = arms(work);
  return (i) => {
    const [x, y] = [i % columns, Math.floor(i / columns)];
    const place = edge === "vertical" ? x : edge === "horizontal" ? y : x + y;
    return (place + 1) % (2 * region) < region ? rising : falling;
  };
}
