// Histograms of times, as the figures have them, on a scale that each of its steps makes ten times as long.
import {shape} from "./chart.js";
import {micros} from "./dom.js";

const WIDTH = 200;

/** The times of a bucket are longer than this, or equal below 4: there are four buckets an octave. */
const from = (us) => (us < 4 ? us : us - 2 ** (Math.floor(Math.log2(us)) - 2));

/** The scale that some histograms share, of a tenfold at least. */
export function scale(histograms) {
  const all = histograms.flat(), least = Math.max(1, Math.min(...all.map((bucket) => from(bucket.upto_us))));
  return {least, most: Math.max(least * 10, ...all.map((bucket) => bucket.upto_us))};
}

/** Histograms as one. */
export function together(histograms) {
  const counts = new Map();
  for (const {upto_us: us, count} of histograms.flat()) counts.set(us, (counts.get(us) || 0) + count);
  return [...counts].sort(([one], [other]) => one - other).map(([us, count]) => ({upto_us: us, count}));
}

/** What so many of a hundred of the times are no greater than. */
export function percentile(buckets, percent) {
  const whole = buckets.reduce((sum, {count}) => sum + count, 0);
  let left = (whole * percent) / 100;
  return (buckets.find(({count}) => (left -= count) <= 0) || buckets.at(-1))?.upto_us;
}

const told = (buckets) => [["half", 50], ["nine of ten", 90], ["99 of a hundred", 99], ["all", 100]]
  .map(([words, percent]) => `${words} within ${micros(percentile(buckets, percent))}`).join(", ");

/** A drawing; update(buckets, scale). Its highest bar is as high as there is room. */
export function histogram(height) {
  const svg = shape("svg", {viewBox: `0 0 ${WIDTH} ${height}`, preserveAspectRatio: "none", role: "img", class: "histogram"});
  const ground = shape("rect", {class: "ground", x: 0, y: height - 1, width: WIDTH, height: 1});
  svg.update = (buckets, {least, most}) => {
    const place = (us) => (Math.log(Math.max(us, least) / least) / Math.log(most / least)) * WIDTH, top = Math.max(...buckets.map(({count}) => count));
    const bars = buckets.map(({upto_us: us, count}) => {
      const x = Math.min(WIDTH - 1.5, place(from(us))), high = Math.max(1, (count / top) * (height - 2));
      return shape("rect", {class: "times", x: x.toFixed(1), y: (height - high).toFixed(1), width: Math.max(1.5, place(us) - x - 0.3).toFixed(1), height: high.toFixed(1)});
    });
    svg.setAttribute("aria-label", buckets.length ? told(buckets) : "none");
    svg.replaceChildren(ground, ...bars, ...(buckets.length ? [shape("rect", {class: "half", x: Math.min(WIDTH - 1.5, place(percentile(buckets, 50))).toFixed(1), y: 0, width: 1.5, height})] : []));
  };
  return svg;
}
