import fc from "fast-check";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AgentFileError, loadYamlAgent } from "../src/index.ts";
import { fixtures, folder } from "./yaml/_served.ts";

type Path = readonly (string | number)[];

const env = { MODEL_KEY: "key", AGENT_TOKEN: "token" };

const valid = {
  name: "helper",
  description: "Helps.",
  model: {
    provider: "openai-compatible",
    name: "m",
    temperature: 0.5,
    max_tokens: 100,
    base_url: "http://127.0.0.1:1/v1",
    api_key_env: "MODEL_KEY",
  },
  instructions: { inline: "Help." },
  tools: [
    {
      type: "function",
      name: "shout",
      description: "Says it loudly.",
      module: `${fixtures}/shout.ts`,
      export: "shout",
      approval: true,
    },
    { type: "client", name: "pick", description: "Lets the user pick." },
    { type: "mcp", name: "files", command: "npx", args: ["-y", "server"], env: ["MODEL_KEY"] },
    { type: "mcp", name: "web", url: "http://127.0.0.1:1/mcp", allow: ["a"], timeout: 5 },
  ],
  limits: { run_timeout_ms: 1000, max_sessions: 5 },
  middleware: [
    "logging",
    { rate_limit: { runs: 5, per_ms: 1000 } },
    { bearer_auth: { token_env: "AGENT_TOKEN" } },
  ],
};

// Without any of these the file is wrong.
const needed: readonly Path[] = [
  ["name"],
  ["model"],
  ["model", "provider"],
  ["model", "name"],
  ["model", "base_url"],
  ["instructions"],
  ["tools", 0, "type"],
  ["tools", 0, "name"],
  ["tools", 0, "module"],
  ["tools", 0, "description"],
  ["tools", 1, "description"],
  ["tools", 2, "command"],
  ["middleware", 1, "rate_limit", "runs"],
  ["middleware", 2, "bearer_auth", "token_env"],
];

const everywhere: Path[] = [];
collect(valid, []);
function collect(value: unknown, path: Path): void {
  if (path.length > 0) everywhere.push(path);
  if (typeof value !== "object" || value === null) return;
  for (const [key, one] of Object.entries(value)) {
    collect(one, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

/** One key or item per line, and the line of each. */
function write(data: unknown): { text: string; lines: ReadonlyMap<string, number> } {
  const rows: string[] = [];
  const lines = new Map<string, number>([["[]", 1]]);
  const emit = (value: unknown, path: Path, indent: string): void => {
    const isList = Array.isArray(value);
    for (const [name, one] of Object.entries(value as object)) {
      const at = [...path, isList ? Number(name) : name];
      lines.set(JSON.stringify(at), rows.length + 1);
      const key = `${indent}${isList ? "-" : `${name}:`}`;
      const isEmpty = typeof one === "object" && one !== null && Object.keys(one).length === 0;
      if (typeof one !== "object" || one === null || isEmpty) {
        rows.push(`${key} ${JSON.stringify(one)}`);
      } else if (isList && !Array.isArray(one)) {
        // The first key of an item stands in its line.
        const before = rows.length;
        emit(one, at, `${indent}  `);
        rows[before] = `${indent}- ${rows[before]!.slice(indent.length + 2)}`;
      } else {
        rows.push(key);
        emit(one, at, `${indent}  `);
      }
    }
  };
  emit(data, [], "");
  return { text: `${rows.join("\n")}\n`, lines };
}

/** The data with the value at the path changed, or dropped for undefined. */
function change(data: unknown, [key, ...rest]: Path, value: unknown): unknown {
  const copy = structuredClone(data) as any;
  if (rest.length > 0) copy[key!] = change(copy[key!], rest, value);
  else if (value === undefined) delete copy[key!];
  else copy[key!] = value;
  return copy;
}

async function faultsOf(file: string, text: string): Promise<readonly { line: number }[]> {
  await writeFile(file, text);
  try {
    const loaded = await loadYamlAgent(file, env);
    await loaded.close?.();
    return [];
  } catch (error) {
    // Anything else is a crash.
    expect(error).toBeInstanceOf(AgentFileError);
    return (error as AgentFileError).faults;
  }
}

test("loads what the mutations below begin with", async () => {
  const file = join(await folder({}), "agent.yaml");
  expect(await faultsOf(file, write(valid).text)).toEqual([]);
});

test("a value of the wrong type is a fault on the line of its key", async () => {
  const file = join(await folder({}), "agent.yaml");
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...everywhere),
      fc.constantFrom<unknown>(7, "{not this}", true, [], {}, null),
      async (path, wrong) => {
        const old = path.reduce<any>((value, key) => value[key], valid);
        const kind = (value: unknown): string =>
          value === null ? "null" : Array.isArray(value) ? "list" : typeof value;
        // Lists may be empty, and some places take two kinds.
        fc.pre(kind(old) !== kind(wrong) && kind(wrong) !== "list");
        fc.pre(!(path.at(-1) === "instructions" && typeof wrong === "string"));
        fc.pre(!(path.at(-1) === "env" && kind(wrong) === "object"));
        fc.pre(!(path[0] === "middleware" && path.length === 2 && kind(wrong) === "object"));
        const { text, lines } = write(change(valid, path, wrong));
        const faults = await faultsOf(file, text);
        expect(faults.map(({ line }) => line)).toContain(lines.get(JSON.stringify(path)));
      },
    ),
    { numRuns: 150 },
  );
});

test("a key that is missing is a fault on the line of what it is missing from", async () => {
  const file = join(await folder({}), "agent.yaml");
  for (const path of needed) {
    const { text, lines } = write(change(valid, path, undefined));
    const faults = await faultsOf(file, text);
    const expected = lines.get(JSON.stringify(path.slice(0, -1)));
    expect(
      faults.map(({ line }) => line),
      text,
    ).toContain(expected);
  }
});

test("an unknown key is a fault on its own line", async () => {
  const file = join(await folder({}), "agent.yaml");
  const holders = [...everywhere, []].filter((path) => {
    const value = path.reduce<any>((one, key) => one[key], valid);
    return typeof value === "object" && !Array.isArray(value);
  });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<Path>(...holders),
      fc.stringMatching(/^[a-z]{1,12}_x$/),
      async (path, key) => {
        const at = [...path, key];
        const { text, lines } = write(change(valid, at, "x"));
        const faults = await faultsOf(file, text);
        expect(faults.map(({ line }) => line)).toContain(lines.get(JSON.stringify(at)));
      },
    ),
    { numRuns: 50 },
  );
});

test("no text at all makes it crash", async () => {
  const file = join(await folder({}), "agent.yaml");
  const { text } = write(valid);
  const keys = fc.constantFrom(
    "name",
    "model",
    "tools",
    "provider",
    "type",
    "instructions",
    "__proto__",
  );
  const documents = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .dictionary(keys, fc.jsonValue(), { noNullPrototype: true })
      .map((data) => JSON.stringify(data)),
    // Cut anywhere, or with something in it.
    fc.nat(text.length).map((end) => text.slice(0, end)),
    fc
      .tuple(fc.nat(text.length), fc.string({ maxLength: 3 }))
      .map(([at, more]) => text.slice(0, at) + more + text.slice(at)),
  );
  await fc.assert(
    fc.asyncProperty(documents, async (document) => {
      for (const { line } of await faultsOf(file, document)) {
        expect(line).toBeGreaterThan(0);
        expect(line).toBeLessThanOrEqual(document.split(/\r\n?|\n/).length + 1);
      }
    }),
    { numRuns: 200 },
  );
});
