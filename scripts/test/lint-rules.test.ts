import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const oxlint = join(root, "node_modules", "oxlint", "bin", "oxlint");

// Which of our packages each package may import, by the design.
const directions: Record<string, readonly string[]> = {
  core: [],
  protocol: ["core"],
  copilotkit: ["core", "protocol"],
  vercel: ["core"],
  rest: ["core"],
  sessions: ["core"],
  middleware: ["core"],
  tools: ["core"],
  adapters: ["core"],
  files: ["core"],
  node: ["core"],
  express: ["core", "node"],
  fastify: ["core", "node"],
  hono: ["core"],
  testing: ["core"],
  agui: ["core", "protocol", "copilotkit", "vercel", "rest", "sessions", "middleware"],
  playground: [],
  cli: ["agui", "core", "sessions", "tools", "adapters", "files", "node", "playground"],
};
// It has no front door.
const subpaths: Record<string, string> = { adapters: "/ai-sdk" };
const withoutNode = [
  "core",
  "protocol",
  "copilotkit",
  "vercel",
  "rest",
  "middleware",
  "tools",
  "adapters",
  "sessions",
  "agui",
  "hono",
];

// Which rooms of its own package a room may import.
const rooms: Record<string, Record<string, readonly string[]>> = {
  core: {
    contract: [],
    base: ["contract"],
    json: ["contract", "base"],
    delta: ["contract", "base", "json"],
    guard: ["contract", "base", "json", "delta"],
    view: ["contract", "base", "json", "delta", "guard"],
    tools: ["contract", "base", "json", "delta", "guard", "view"],
    agent: ["contract", "base", "json", "delta", "guard", "view", "tools"],
    middleware: ["contract", "base", "json", "delta", "guard", "view", "tools", "agent"],
    run: ["contract", "base", "json", "delta", "guard", "view", "tools", "agent", "middleware"],
    http: ["contract", "base", "json"],
  },
  sessions: { kit: [], memory: ["kit"], sqlite: ["kit"], redis: ["kit"], postgres: ["kit"] },
  protocol: { decode: [], encode: [] },
  vercel: { shared: [], decode: ["shared"], "ui-stream": ["shared"], "data-stream": ["shared"] },
  rest: { shared: [], rest: ["shared"], threads: ["shared"] },
  files: {
    shared: [],
    extract: ["shared"],
    uploads: ["shared"],
    process: ["shared", "extract", "uploads"],
  },
  agui: {
    options: [],
    http: [],
    runs: ["options", "http"],
    describe: ["options", "http"],
  },
};

// Every planted file, and the rules that it broke.
const planted = new Map<string, string>();
let folder = "";
const reports = new Map<string, string[]>();

function plant(path: string, source: string): string {
  planted.set(path, source);
  return path;
}

function packageName(dir: string): string {
  return dir === "agui" ? "@holodeck/agui" : `@holodeck/agui-${dir}`;
}

function rulesBroken(path: string): readonly string[] {
  return reports.get(path) ?? [];
}

const imports = "eslint(no-restricted-imports)";
const globals = "eslint(no-restricted-globals)";

describe("which way imports point", () => {
  for (const [from, allowed] of Object.entries(directions)) {
    for (const to of Object.keys(directions)) {
      if (from === to) continue;
      const isAllowed = allowed.includes(to);
      const value = plant(
        `packages/${from}/src/value-${to}.ts`,
        `import { thing } from "${packageName(to)}${subpaths[to] ?? ""}";\nexport const it = thing;\n`,
      );
      test(`packages/${from} ${isAllowed ? "may" : "may not"} import ${to}`, () => {
        expect(rulesBroken(value)).toEqual(isAllowed ? [] : [imports]);
      });
    }
  }

  const disguised: readonly [string, string][] = [
    ["type", 'import type { Thing } from "@holodeck/agui";\nexport type It = Thing;\n'],
    ["re-exported", 'export { thing } from "@holodeck/agui";\n'],
    ["dynamic", 'export const it = (): Promise<unknown> => import("@holodeck/agui");\n'],
    ["subpath", 'export { thing } from "@holodeck/agui-testing/vitest";\n'],
  ];
  for (const [kind, source] of disguised) {
    const path = plant(`packages/protocol/src/disguised-${kind}.ts`, source);
    test(`a ${kind} import is an import too`, () => {
      expect(rulesBroken(path)).toEqual([imports]);
    });
  }

  for (const name of [
    "zod",
    "fast-json-patch",
    "@ag-ui/client",
    "@ag-ui/core/schemas",
    "rxjs/operators",
    "node:fs",
  ]) {
    const path = plant(
      `packages/core/src/foreign-${name.replaceAll(/\W/g, "-")}.ts`,
      `import { thing } from "${name}";\nexport const it = thing;\n`,
    );
    test(`packages/core may not import ${name}`, () => {
      expect(rulesBroken(path)).toEqual([imports]);
    });
  }

  for (const name of ["@ag-ui/core", "rxjs/internal/Observable", "mutative"]) {
    const path = plant(
      `packages/core/src/known-${name.replaceAll(/\W/g, "-")}.ts`,
      `import { thing } from "${name}";\nexport const it = thing;\n`,
    );
    test(`packages/core may import ${name}`, () => {
      expect(rulesBroken(path)).toEqual([]);
    });
  }

  for (const name of ["@holodeck/agui-core", "@holodeck/agui", "node:fs"]) {
    const path = plant(
      `packages/playground/page/shell/page-${name.replaceAll(/\W/g, "-")}.ts`,
      `import { thing } from "${name}";\nexport const it = thing;\n`,
    );
    const isAllowed = name === "@holodeck/agui-core";
    test(`the page of packages/playground ${isAllowed ? "may" : "may not"} import ${name}`, () => {
      expect(rulesBroken(path)).toEqual(isAllowed ? [] : [imports]);
    });
  }

  for (const folderName of ["packages/core/test", "examples/demo", "bench", "packages/cli/src"]) {
    const path = plant(
      `${folderName}/front-door.ts`,
      'import { thing } from "@holodeck/agui";\nexport const it = thing;\n',
    );
    test(`${folderName} may import the front door`, () => {
      expect(rulesBroken(path)).toEqual([]);
    });
  }
});

describe("which way imports point inside a package", () => {
  for (const [name, directions] of Object.entries(rooms)) {
    for (const [room, allowed] of Object.entries(directions)) {
      for (const other of Object.keys(directions)) {
        if (other === room) continue;
        const isAllowed = allowed.includes(other);
        const files = [
          [`${room}/value-${other}.ts`, `../${other}/thing.ts`],
          [`${room}/deep/value-${other}.ts`, `../../${other}/deep/thing.ts`],
        ].map(([file, target]) =>
          plant(
            `packages/${name}/src/${file}`,
            `import { thing } from "${target}";\nexport const it = thing;\n`,
          ),
        );
        test(`${name}: ${room}/ ${isAllowed ? "may" : "may not"} import ${other}/`, () => {
          expect(files.map(rulesBroken)).toEqual(isAllowed ? [[], []] : [[imports], [imports]]);
        });
      }
      const front = plant(
        `packages/${name}/src/${room}/front-door.ts`,
        'import { thing } from "@holodeck/agui";\nexport const it = thing;\n',
      );
      test(`${name}: ${room}/ keeps to the rules of its package`, () => {
        expect(rulesBroken(front)).toEqual([imports]);
      });
    }
  }

  const typed = plant(
    "packages/core/src/guard/type-run.ts",
    'import type { Thing } from "../run/thing.ts";\nexport type It = Thing;\n',
  );
  test("in core a type is an import too", () => {
    expect(rulesBroken(typed)).toEqual([imports]);
  });
});

describe("packages that run without Node", () => {
  for (const dir of withoutNode) {
    const builtin = plant(
      `packages/${dir}/src/builtin.ts`,
      'import { readFile } from "node:fs/promises";\nexport const it = readFile;\n',
    );
    const bare = plant(
      `packages/${dir}/src/builtin-bare.ts`,
      'import { readFile } from "fs";\nexport const it = readFile;\n',
    );
    const global = plant(
      `packages/${dir}/src/globals.ts`,
      'export const bytes = Buffer.from("x");\nexport const pid = process.pid;\n',
    );
    const whole = plant(
      `packages/${dir}/src/whole-rxjs.ts`,
      'import { of } from "rxjs";\nexport const it = of(1);\n',
    );
    const operators = plant(
      `packages/${dir}/src/rxjs-operators.ts`,
      'import { map } from "rxjs/operators";\nexport const it = map;\n',
    );
    const typed = plant(
      `packages/${dir}/src/rxjs-type.ts`,
      'import type { Observable } from "rxjs";\nexport type It = Observable<string>;\n',
    );
    test(`${dir} may not import Node's modules`, () => {
      expect(rulesBroken(builtin)).toEqual([imports]);
      expect(rulesBroken(bare)).not.toEqual([]);
    });
    test(`${dir} may not use Buffer and process`, () => {
      expect(rulesBroken(global)).toEqual([globals, globals]);
    });
    test(`${dir} may take types of rxjs, not the whole of it`, () => {
      expect(rulesBroken(whole)).toEqual([imports]);
      expect(rulesBroken(operators)).toEqual([imports]);
      expect(rulesBroken(typed)).toEqual([]);
    });
  }

  const sqlite = plant(
    "packages/sessions/src/sqlite/index.ts",
    'import { readFile } from "node:fs/promises";\nexport const it = [readFile, process.pid];\n',
  );
  const node = plant(
    "packages/node/src/builtin.ts",
    'import { createServer } from "node:http";\nexport const it = [createServer, process.pid];\n',
  );
  test("sessions/sqlite and node may use Node", () => {
    expect(rulesBroken(sqlite)).toEqual([]);
    expect(rulesBroken(node)).toEqual([]);
  });
});

describe("the console", () => {
  const source = 'console.log("x");\nexport const it = 1;\n';
  const library = plant("packages/node/src/console.ts", source);
  const free = ["examples/demo/console.ts", "bench/console.ts", "scripts/console.mjs"].map((path) =>
    plant(path, source),
  );
  test("is not for packages, and is for examples, bench and scripts", () => {
    expect(rulesBroken(library)).toEqual(["eslint(no-console)"]);
    expect(free.flatMap(rulesBroken)).toEqual([]);
  });
});

// One run of the linter over all planted files: a run per file would take minutes.
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holodeck-lint-"));
  copyFileSync(join(root, "oxlint.config.mjs"), join(folder, "oxlint.config.mjs"));
  for (const [path, source] of planted) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), source);
  }
  const folders = ["packages", "examples", "bench", "scripts"];
  const args = [oxlint, "-c", "oxlint.config.mjs", "--format=json", ...folders];
  const options = { cwd: folder, maxBuffer: 2 ** 26 };
  // It ends with a code other than 0: there is much to find.
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, options, (_, stdout) => resolve(stdout));
  });
  const { diagnostics } = JSON.parse(output) as {
    diagnostics: { code: string; filename: string }[];
  };
  for (const { code, filename } of diagnostics) {
    const path = filename.replaceAll("\\", "/");
    reports.set(path, [...rulesBroken(path), code]);
  }
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
