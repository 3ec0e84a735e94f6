"use strict";
// Statistics of samples, and sums over counts. Nothing here touches the page or the device.
let data;

const of_template = (number) => data.template.measurements[number];
const rows_of = (number, index) => data.template.block_tables[of_template(number).dispatches[index].block_table];

// What the simulator counts of a launch at a size and a width, by dispatch and block; or nothing.
const expected_of = (number, size, width) => data.launches[number].sizes[size].expected[width] ?? null;

// Subgroup operations and lane operations of a launch's counts, without dispatches that only set up.
function work_of(number, dispatches) {
  let [subgroups, lanes] = [0, 0];
  dispatches.forEach((blocks, index) => {
    if (data.launches[number].dispatches[index].setup) return;
    const rows = rows_of(number, index);
    blocks.forEach(([executions, active], block) => {
      subgroups += rows[block].operations * executions;
      lanes += rows[block].operations * active;
    });
  });
  return { subgroups, lanes, mean: subgroups ? lanes / subgroups : null };
}

// How counts compare with the simulator's; nothing where it has none for this width and size. Of
// estimates, whose executions are a lower bound and whose width is assumed, lanes alone are compared,
// and those alone that are the same at every width.
function agreement_of({ launch: number, size, dispatches, method }, width) {
  const expected = expected_of(number, size, width);
  if (!expected || !dispatches) return null;
  const different = [];
  let total = 0;
  const estimated = method === "estimated";
  const varies = (index, block) => {
    const lanes = Object.values(data.launches[number].sizes[size].expected).map((expected) => expected[index][block][1]);
    return lanes.some((count) => count !== lanes[0]);
  };
  dispatches.forEach((blocks, index) => blocks.forEach(([executions, lanes], block) => {
    if (estimated && varies(index, block)) return;
    total++;
    const [e, l] = expected[index][block];
    if ((!estimated && executions !== e) || lanes !== l) different.push({ index, block, found: [executions, lanes], expected: [e, l] });
  }));
  return { total, equal: total - different.length, different };
}

// Type 7 of Hyndman and Fan, as lanescope's own statistics.
function quantile(sorted, portion) {
  const place = portion * (sorted.length - 1), below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
}
const in_order = (values) => [...values].sort((a, b) => a - b);
const median = (values) => (values.length ? quantile(in_order(values), 0.5) : null);

// The percentile bootstrap's 95 % interval of the median; the same samples give the same interval.
function interval(values) {
  let state = 1;
  const below = (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 4294967296 * bound);
  };
  const medians = in_order(Array.from({ length: 1000 }, () => median(values.map(() => values[below(values.length)]))));
  return [quantile(medians, 0.025), quantile(medians, 0.975)];
}

const noise = (values) => {
  const sorted = in_order(values);
  return (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2 / quantile(sorted, 0.5);
};

// Samples so near the timer's step say nothing.
const QUANTA_MIN = 10;
function state_of(sample, quantum_ns) {
  const ns = sample.end - sample.begin;
  if (ns < 0) return "negative";
  if (ns === 0) return "zero";
  return quantum_ns !== null && ns < QUANTA_MIN * quantum_ns ? "quantised" : "ok";
}

// The times of one launch of the samples that count, by round.
function times_of(result, quantum_ns) {
  const usable = result.samples.filter((sample) => state_of(sample, quantum_ns) === "ok");
  return new Map(usable.map((sample) => [sample.round, (sample.end - sample.begin) / sample.repeats]));
}

// The stop rule: so many rounds, and half the interquartile range at most this part of the median.
const ROUNDS_ASKED = 9, NOISE_MAX = 0.05;

const is_settled = (values) => values.length >= ROUNDS_ASKED && noise(values) <= NOISE_MAX;

// Whether a launch's times miss the stop rule, as a link says or its samples.
const is_noisy = (result, quantum_ns) => result.noisy ?? !is_settled([...times_of(result, quantum_ns).values()]);

// The median over a launch's rounds, from a link or from samples; nothing where there is none.
function median_of(result, quantum_ns) {
  if (result.median_ns !== undefined) return result.median_ns;
  const values = [...times_of(result, quantum_ns).values()];
  return values.length ? median(values) : null;
}

// A launch's time over its baseline's, round by round: the median with its interval's ends.
function ratio_of(result, baseline, quantum_ns) {
  if (!baseline || result.timed?.size !== baseline.timed?.size) return null;
  if (result.ratio !== undefined) return result.ratio;
  const [times, other] = [times_of(result, quantum_ns), times_of(baseline, quantum_ns)];
  const pairs = [...times].filter(([round]) => other.has(round)).map(([round, ns]) => ns / other.get(round));
  return pairs.length ? [median(pairs), ...interval(pairs)] : null;
}

// Whether the interval of a ratio leaves out 1.
const is_told_apart = ([, low, high]) => low > 1 || high < 1;
