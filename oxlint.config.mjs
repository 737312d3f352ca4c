// The linter's rules, and which way imports point: between our packages and between the rooms of a package.
// `scripts/test/lint-rules.test.ts` proves the directions with files that break them.

const webOnly = "This package runs without Node: web-standard APIs only.";
const wholeRxjs =
  "Types only; the class comes from rxjs/internal/Observable: the whole of rxjs costs 100 ms at start.";
const where = '(CONTRIBUTING.md, "Which way imports point")';

// Which of our packages each package may import.
const packages = {
  core: [],
  protocol: ["core"],
  copilotkit: ["core", "protocol"],
  vercel: ["core"],
  openai: ["core"],
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
  client: [],
  testing: ["core"],
  agui: ["core", "protocol", "copilotkit", "vercel", "rest", "sessions", "middleware"],
  playground: [],
  cli: ["agui", "core", "openai", "sessions", "tools", "adapters", "files", "node", "playground"],
};
const withoutNode = [
  "core",
  "protocol",
  "copilotkit",
  "vercel",
  "openai",
  "rest",
  "middleware",
  "tools",
  "adapters",
  "sessions",
  "agui",
  "hono",
  "client",
];

// Which rooms of its package each room may import. Core's are a list: a room may import those before it.
const order = [
  "contract",
  "base",
  "json",
  "delta",
  "guard",
  "view",
  "tools",
  "agent",
  "middleware",
  "run",
];
const rooms = {
  core: {
    ...Object.fromEntries(order.map((room, index) => [room, order.slice(0, index)])),
    http: ["contract", "base", "json"],
  },
  sessions: { kit: [], memory: ["kit"], sqlite: ["kit"], redis: ["kit"], postgres: ["kit"] },
  protocol: { decode: [], encode: [], tanstack: ["encode"] },
  vercel: { shared: [], decode: ["shared"], "ui-stream": ["shared"], "data-stream": ["shared"] },
  openai: { shared: [], models: ["shared"], chat: ["shared"], responses: ["shared"] },
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
// Rooms of these may import types of any other room.
const freeTypes = new Set(["agui", "files"]);
// Parts of packages that run without Node and may use it themselves.
const nodeParts = ["packages/sessions/src/sqlite/**", "packages/sessions/src/redis/**"];

export default {
  plugins: ["typescript", "import", "unicorn", "oxc"],
  categories: { correctness: "error", suspicious: "error" },
  rules: {
    "import/no-cycle": "error",
    "import/no-default-export": "error",
    "import/no-unassigned-import": "off",
    "max-params": ["error", { max: 3 }],
    "max-lines": ["warn", { max: 300, skipBlankLines: true, skipComments: true }],
    "no-console": "error",
    "no-await-in-loop": "off",
    "no-shadow": "off",
    "no-underscore-dangle": "off",
    "unicorn/no-array-sort": "off",
    "typescript/no-floating-promises": "error",
    "typescript/no-unnecessary-type-parameters": "off",
    "typescript/no-unsafe-type-assertion": "off",
    "typescript/no-explicit-any": "error",
    "typescript/consistent-type-imports": "error",
    "unicorn/prefer-node-protocol": "error",
    "typescript/consistent-return": "off",
    "import/no-named-as-default-member": "off",
    "typescript/no-unsafe-enum-comparison": "off",
    "typescript/no-unsafe-enum-assignment": "off",
    "unicorn/consistent-function-scoping": "off",
    "typescript/unbound-method": "off",
    "unicorn/prefer-add-event-listener": "off",
    "no-unmodified-loop-condition": "off",
  },
  ignorePatterns: ["**/dist", "**/node_modules"],
  overrides: [
    {
      files: ["*.config.ts", "*.config.mjs", "vitest.workspace.ts", "hosts/servers/**"],
      rules: { "import/no-default-export": "off" },
    },
    {
      files: [
        "examples/**",
        "bench/**",
        "hardening/**",
        "hosts/**",
        "scripts/**",
        "packages/cli/templates/**",
      ],
      rules: { "no-console": "off" },
    },
    {
      files: ["**/test/**"],
      rules: {
        "typescript/no-explicit-any": "off",
        "unicorn/no-array-fill-with-reference-type": "off",
        "max-lines": "off",
        "max-params": "off",
      },
    },
    { files: withoutNode.map(sourcesOf), rules: { "no-restricted-globals": nodeGlobals() } },
    ...Object.keys(packages).map((name) => ({
      files: [sourcesOf(name)],
      rules: { "no-restricted-imports": ["error", restrictionsOf(name)] },
    })),
    ...Object.entries(rooms).flatMap(([name, directions]) =>
      Object.entries(directions).map(([room, allowed]) => ({
        files: [`packages/${name}/src/${room}/**`],
        rules: {
          "no-restricted-imports": ["error", withRooms(name, { room, allowed, directions })],
        },
      })),
    ),
    {
      files: ["packages/playground/page/*/**", "packages/playground/page/*.tsx"],
      rules: {
        "no-restricted-imports": [
          "error",
          {
            patterns: [
              { regex: "^node:", message: "The page runs in a browser." },
              oursOnly("The page of packages/playground", ["core"]),
            ],
          },
        ],
      },
    },
    {
      files: nodeParts,
      rules: { "no-restricted-globals": "off" },
    },
  ],
};

function sourcesOf(name) {
  return `packages/${name}/src/**`;
}

function nodeGlobals() {
  const names = [
    "Buffer",
    "process",
    "global",
    "setImmediate",
    "clearImmediate",
    "require",
    "__dirname",
    "__filename",
  ];
  return ["error", ...names.map((name) => ({ name, message: webOnly }))];
}

function restrictionsOf(name, mayUseNode = !withoutNode.includes(name)) {
  const rxjs = [{ name: "rxjs", allowTypeImports: true, message: wholeRxjs }];
  if (name === "core") return { paths: rxjs, patterns: [coreOnly()] };
  const ours = oursOnly(`packages/${name}`, packages[name]);
  if (mayUseNode) return { patterns: [ours] };
  const patterns = [
    { regex: "^node:", message: webOnly },
    { group: ["rxjs/**", "!rxjs/internal/Observable"], message: wholeRxjs },
    ours,
  ];
  return { paths: rxjs, patterns };
}

function coreOnly() {
  const libraries = ["@ag-ui/core", "rxjs", "mutative"];
  const known = ["./**", "../**", ...libraries, "rxjs/internal/Observable"];
  return {
    group: ["*", ...known.map((name) => `!${name}`)],
    message: `packages/core imports only ${libraries.join(", ")}, and none of our packages.`,
  };
}

function oursOnly(who, allowed) {
  const names = allowed.map((name) =>
    name === "agui" ? "@holodeck/agui" : `@holodeck/agui-${name}`,
  );
  const message =
    names.length === 0
      ? `${who} imports none of our packages ${where}.`
      : `${who} may import only ${names.join(", ")} of ours ${where}.`;
  return { group: ["@holodeck/**", ...names.flatMap(open)], message };
}

// A package and its subpaths; adapters have subpaths only, and the vitest suites are for tests alone.
function open(name) {
  return name === "@holodeck/agui-adapters" ? [`!${name}/**`] : [`!${name}`, `!${name}/**`];
}

function withRooms(name, { room, allowed, directions }) {
  const isNodePart = nodeParts.includes(`packages/${name}/src/${room}/**`);
  const restrictions = restrictionsOf(name, isNodePart || !withoutNode.includes(name));
  const others = Object.keys(directions).filter(
    (other) => other !== room && !allowed.includes(other),
  );
  if (others.length === 0) return restrictions;
  const rule = {
    regex: `^(\\.\\./)+(${others.join("|")})/`,
    allowTypeImports: freeTypes.has(name),
    message: `In packages/${name}, ${room}/ may import ${allowed.join(", ") || "no other room"} ${where}.`,
  };
  // First: a group that lets a path through ends the search.
  return { ...restrictions, patterns: [rule, ...restrictions.patterns] };
}
