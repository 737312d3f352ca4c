// Bars as SVG: just enough for the charts in the docs. Colours follow the reader's light or dark page.

const bar = { height: 22, gap: 8, left: 190, width: 420, right: 90 };
const head = 46;

/** Groups of bars below each other: `{ title, bars: [{ name, value, label, isOurs, isBase }] }` each. */
export function drawBars(groups, { title }) {
  const width = bar.left + bar.width + bar.right;
  let top = 34;
  const parts = [];
  for (const group of groups) {
    parts.push(drawGroup(group, top));
    top += head + group.bars.length * (bar.height + bar.gap);
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top + 10}" role="img" aria-label="${escape(title)}">`,
    style,
    `<text class="title" x="10" y="22">${escape(title)}</text>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

function drawGroup({ title, bars }, top) {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const length = (value) => (value / most) * bar.width;
  const lines = bars.map(({ name, value, label, isOurs, isBase }, index) => {
    const y = top + head - 14 + index * (bar.height + bar.gap);
    const kind = isOurs ? "ours" : isBase ? "base" : "peer";
    const middle = y + bar.height / 2 + 4;
    return [
      `<text class="name" x="${bar.left - 8}" y="${middle}">${escape(name)}</text>`,
      `<rect class="${kind}" x="${bar.left}" y="${y}" width="${length(value).toFixed(1)}" height="${bar.height}" rx="3"/>`,
      `<text class="label" x="${(bar.left + length(value) + 6).toFixed(1)}" y="${middle}">${escape(label)}</text>`,
    ].join("\n");
  });
  // One is the hand-written server: the line to stay left of.
  const x = (bar.left + length(1)).toFixed(1);
  const from = top + head - 18;
  const to = top + head - 14 + bars.length * (bar.height + bar.gap) - bar.gap;
  return [
    `<text class="group" x="10" y="${top + 18}">${escape(title)}</text>`,
    ...lines,
    `<line class="one" x1="${x}" y1="${from}" x2="${x}" y2="${to}"/>`,
  ].join("\n");
}

const style = `<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.title { font-size: 15px; font-weight: 600; }
.group { font-weight: 600; }
.name { text-anchor: end; }
.ours { fill: #0b7a4b; } .base { fill: #57606a; } .peer { fill: #8fa3b8; }
.one { stroke: #57606a; stroke-dasharray: 3 3; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.ours { fill: #3fb97f; } .base { fill: #a4b0bc; } .peer { fill: #5b6f84; }
.one { stroke: #a4b0bc; }
}
</style>`;

function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
