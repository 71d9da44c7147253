// Small charts: a line for each series over the last readings.

const NS = "http://www.w3.org/2000/svg";
const WIDTH = 240, HEIGHT = 48;

export function shape(tag, attributes) {
  const node = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

function points(values, most, length) {
  const step = WIDTH / Math.max(1, length - 1);
  const begin = WIDTH - (values.length - 1) * step;
  return values.map((value, at) => `${(begin + at * step).toFixed(1)},${(HEIGHT - 2 - (value / most) * (HEIGHT - 6)).toFixed(1)}`);
}

/** A figure with a title, the newest value, and its line; update(values, text). */
export function chart(title, {length = 120, kind = ""} = {}) {
  const svg = shape("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img"});
  const area = shape("polygon", {class: "area"}), line = shape("polyline", {class: "line", "vector-effect": "non-scaling-stroke"});
  svg.append(area, line);
  const name = document.createElement("figcaption"), value = document.createElement("strong"), most = document.createElement("span");
  name.textContent = title;
  most.className = "most";
  const node = document.createElement("figure");
  node.className = `chart ${kind}`;
  node.append(name, value, svg, most);
  node.update = (values, text, asText) => {
    const top = Math.max(...values, 0);
    value.textContent = text;
    most.textContent = values.length > 1 ? `highest ${asText(top)}` : "";
    svg.setAttribute("aria-label", `${title}: now ${text}${values.length > 1 ? `, highest ${asText(top)} of the last ${values.length} readings` : ""}`);
    const all = values.length > 1 ? points(values, top || 1, length) : [];
    line.setAttribute("points", all.join(" "));
    area.setAttribute("points", all.length ? `${all[0].split(",")[0]},${HEIGHT} ${all.join(" ")} ${WIDTH},${HEIGHT}` : "");
  };
  return node;
}
