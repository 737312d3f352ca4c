// What it costs to read the body of a run: from its bytes to a checked input, against JSON.parse of the same bytes and,
// with `--against`, against another commit of this repository in the same run. Prints a table at the end.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { median } from "./lib/stats.mjs";

const { values } = parseArgs({
  options: {
    against: { type: "string" },
    rounds: { type: "string", default: "15" },
    max: { type: "string" },
  },
});
const rounds = Math.max(3, Number(values.rounds));
const root = fileURLToPath(new URL("..", import.meta.url));

const words = "Wie lange dauert es, bis die Bestellung mit zwei Büchern bei mir ankommt? ";
const message = (at) =>
  at % 2 === 0
    ? { id: `m${at}`, role: "user", content: words.repeat(1 + (at % 3)) }
    : { id: `m${at}`, role: "assistant", content: words.repeat(4) };
const called = (at) => [
  {
    id: `a${at}`,
    role: "assistant",
    content: "",
    toolCalls: [
      { id: `c${at}`, type: "function", function: { name: "find_order", arguments: '{"id":17}' } },
    ],
  },
  { id: `r${at}`, role: "tool", toolCallId: `c${at}`, content: '{"status":"sent","days":2}' },
];
const list = (length, make) => Array.from({ length }, (_, at) => make(at));
const tool = (at) => ({
  name: `tool_${at}`,
  description: words,
  parameters: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
});
const run = (more) => ({
  threadId: "thread-1",
  runId: "run-1",
  protocolVersion: "1.0",
  state: {},
  tools: [],
  context: [],
  forwardedProps: {},
  messages: [message(0)],
  ...more,
});

const bodies = {
  "one message": run({}),
  "20 messages": run({ messages: list(20, message) }),
  "200 messages, 40 of them calls and results, 12 tools": run({
    messages: [...list(160, message), ...list(20, called).flat()],
    tools: list(12, tool),
  }),
  "a state of 5,000 values": run({
    state: { rows: list(1_000, (at) => ({ id: at, name: `row ${at}`, isDone: at % 2 === 0 })) },
  }),
  "20 texts of 50 kB": run({
    messages: list(20, (at) => ({ ...message(at), content: words.repeat(680) })),
  }),
  "a file of 2 MB in base64": run({
    messages: [
      {
        id: "m",
        role: "user",
        content: [
          {
            type: "document",
            source: { type: "data", value: "QUJD".repeat(500_000), mimeType: "application/pdf" },
          },
        ],
      },
    ],
  }),
};

const folder = mkdtempSync(join(tmpdir(), "agui-decode-"));
try {
  const sides = { "JSON.parse": (bytes) => JSON.parse(new TextDecoder().decode(bytes)) };
  if (values.against) sides[values.against] = await load(checkOut(values.against), "other");
  sides.now = await load(root, "now");
  const rows = [];
  for (const [name, body] of Object.entries(bodies)) rows.push(await compare(name, body, sides));
  print(rows, Object.keys(sides));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The packages of another commit, without their dependencies. */
function checkOut(commit) {
  const place = mkdtempSync(join(folder, "tree-"));
  const paths = ["core", "protocol", "agui"].map((name) => `packages/${name}/src`);
  const tar = execFileSync("git", ["-C", root, "archive", commit, ...paths], {
    maxBuffer: 1 << 28,
  });
  execFileSync("tar", ["-x", "-C", place], { input: tar });
  return place;
}

/** The decoding of a tree, as a function of bytes. */
async function load(tree, name) {
  const outfile = join(folder, `${name}.mjs`);
  const source = (path) => JSON.stringify(join(tree, "packages", path));
  const find = (...paths) =>
    source(paths.find((path) => existsSync(join(tree, "packages", path))) ?? paths[0]);
  const core = "core/src/index.ts";
  await build({
    stdin: {
      contents: `
        export { readJson } from ${find("agui/src/http/read-json.ts", "agui/src/body.ts")};
        export { decodeRunInput } from ${find("protocol/src/decode/decode-run-input.ts", "protocol/src/decode-run-input.ts")};
        export { defaultLimits, systemClock } from ${source(core)};
        export * as internal from ${find("core/src/internal.ts", core)};`,
      resolveDir: root,
    },
    alias: {
      "@holodeck/agui-core/internal": join(tree, "packages/core/src/internal.ts"),
      "@holodeck/agui-core": join(tree, "packages", core),
    },
    nodePaths: ["core", "protocol"].map((one) => join(root, "packages", one, "node_modules")),
    bundle: true,
    format: "esm",
    platform: "node",
    outfile,
    logLevel: "error",
  });
  return toDecoder(await import(pathToFileURL(outfile).href));
}

function toDecoder({ readJson, decodeRunInput, defaultLimits: limits, systemClock, internal }) {
  const bodiesOf = (clock) =>
    internal.ByteBudget &&
    new internal.ByteBudget({ maxBytes: limits.bodiesBytes, clock, what: "bodies" });
  const rules = { limits, bodies: bodiesOf(systemClock), owner: () => "", isOptional: false };
  // Older ones take the limits alone, and return the value.
  const isOld = !rules.bodies;
  return async (bytes) => {
    const headers = { "content-type": "application/json", "content-length": String(bytes.length) };
    const exchange = {
      header: (name) => headers[name],
      readAll: async () => bytes,
      whole: async () => bytes,
      async *body() {
        yield bytes;
      },
    };
    const read = await readJson(exchange, isOld ? limits : rules);
    return decodeRunInput(isOld ? read : read.value, limits);
  };
}

/** Rounds in which all sides take turns, so that what else the machine does meets them alike. */
async function compare(name, body, sides) {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const times = Math.max(4, Math.round(4_000_000 / (bytes.length + 2_000)));
  const taken = Object.fromEntries(Object.keys(sides).map((side) => [side, []]));
  for (let round = -2; round < rounds; round++) {
    for (const [side, decode] of Object.entries(sides)) {
      const begun = process.cpuUsage();
      for (let at = 0; at < times; at++) await decode(bytes);
      const { user, system } = process.cpuUsage(begun);
      // The first rounds compile.
      if (round >= 0) taken[side].push((user + system) / times);
    }
  }
  const medians = Object.fromEntries(
    Object.entries(taken).map(([side, list]) => [side, median(list)]),
  );
  return { name, kB: bytes.length / 1_000, medians };
}

function print(rows, sides) {
  console.log(`| body | kB | ${sides.map((side) => `${side}, µs`).join(" | ")} | ratio |`);
  console.log(`|---|---:|${sides.map(() => "---:|").join("")}---:|`);
  const before = sides.at(-2);
  let worst = 0;
  for (const { name, kB, medians } of rows) {
    const ratio = medians.now / medians[before];
    worst = Math.max(worst, ratio);
    const cells = sides.map((side) => medians[side].toFixed(1));
    console.log(`| ${name} | ${kB.toFixed(1)} | ${cells.join(" | ")} | ${ratio.toFixed(2)} |`);
  }
  if (values.max && worst > Number(values.max)) {
    console.error(`A body costs ${worst.toFixed(2)} times ${before}, more than ${values.max}.`);
    process.exitCode = 1;
  }
}
