// What is measured: scenarios, each with the subjects that take turns in it. The first one is the base
// of the ratios, unless a subject names another.
import { requests } from "./requests.mjs";

const subject = (name, module, more = {}) => ({ name, module, request: requests.agui, ...more });
const raw = subject("raw", "raw");
const ours = subject("ours", "ours");
const middlewares = subject("ours, 3 middlewares", "ours", { env: { BENCH_MIDDLEWARE: "3" } });
const peers = [
  subject("Express + @ag-ui/encoder", "peers/express-encoder"),
  subject("TanStack AI", "peers/tanstack"),
  subject("Hono streamSSE", "peers/hono"),
  subject("AI SDK 6", "peers/ai-sdk"),
  subject("assistant-stream", "peers/assistant-stream"),
  subject("CopilotKit runtime", "peers/copilotkit", { request: requests.copilotkit }),
];
/** Those that take AG-UI events and can send more than text. */
const eventPeers = peers.slice(0, 3);

const text = { kind: "text", deltas: 200, size: 20 };
const withHistory = (one) =>
  one.request === requests.copilotkit
    ? { ...one, request: requests.copilotkitHistory }
    : { ...one, request: requests.aguiHistory };
const renamed = (one, name, more = {}) => ({ ...one, ...more, name });
const sized = (one, deltas, runs) =>
  renamed(one, `${one.name}, ${deltas.toLocaleString("en")}`, {
    work: { ...(one.work ?? text), deltas },
    runs,
  });
const stored = (store) => renamed(ours, `ours, ${store}`, { env: { BENCH_STORE: store } });

const asModel = (name, request) => renamed(ours, name, { request, env: { BENCH_OPENAI: "1" } });

const state = { kind: "state", deltas: 200, size: 10 };
const burst = { unit: "delta", work: text, connections: 16, runs: 600 };

export const scenarios = [
  {
    name: "burst",
    title: "Burst: 16 connections, runs of 200 deltas of 20 characters",
    ...burst,
    subjects: [raw, ours, middlewares, ...peers],
    hasStart: true,
  },
  {
    name: "paced-300",
    title: "Paced: 300 streams, one delta each 5 ms",
    unit: "delta",
    work: { ...text, size: 24, everyMs: 5 },
    connections: 300,
    runs: 300,
    isPaced: true,
    // The last two had used over 20 s of CPU each before their second round was done.
    subjects: [raw, ours, ...peers.slice(0, 4)],
  },
  {
    name: "paced-2000",
    title: "Paced: 2,000 streams, one delta each 5 ms (more than one core can do: what is late)",
    unit: "delta",
    work: { ...text, deltas: 100, size: 24, everyMs: 5 },
    connections: 2_000,
    runs: 2_000,
    isPaced: true,
    subjects: [raw, ours, ...eventPeers],
  },
  {
    name: "idle",
    title: "Idle: 10,000 open streams that wait for the agent",
    type: "hold",
    unit: "stream",
    work: { kind: "idle", deltas: 1, size: 20 },
    connections: 10_000,
    subjects: [raw, ours, ...peers.slice(0, 4)],
  },
  {
    name: "history",
    title: "History: as burst, and every request carries 201 messages",
    ...burst,
    runs: 200,
    subjects: [
      withHistory(raw),
      withHistory(ours),
      renamed(ours, "ours, no history"),
      sized(withHistory(ours), 2_000, 40),
      sized(renamed(ours, "ours, no history"), 2_000, 40),
      ...peers.map(withHistory),
    ],
  },
  {
    name: "tools",
    title: "Tools: runs of 25 tool calls, 8 events each",
    ...burst,
    unit: "event",
    work: { kind: "tools", deltas: 200, size: 8 },
    runs: 400,
    subjects: [raw, ours, middlewares, ...eventPeers],
  },
  {
    name: "state",
    title: "State: 200 changes of one key of 100 (raw writes its patches by hand)",
    ...burst,
    unit: "change",
    work: state,
    runs: 200,
    subjects: [
      raw,
      renamed(ours, "ours, state.update"),
      renamed(ours, "ours, state.set", { work: { ...state, kind: "stateSet" } }),
    ],
  },
  {
    name: "protocols",
    title: "Protocols: as burst, each of ours over Node's binding",
    ...burst,
    runs: 400,
    subjects: [
      raw,
      renamed(ours, "AG-UI, SSE"),
      renamed(ours, "AG-UI, protobuf", { request: requests.proto }),
      renamed(ours, "Vercel UI message stream v1", { request: requests.vercelUi }),
      renamed(ours, "Vercel data stream v1", { request: requests.vercelData }),
      renamed(ours, "Vercel text", { request: requests.vercelUi, env: { BENCH_TEXT: "1" } }),
      renamed(ours, "REST stream", { request: requests.restStream }),
      renamed(ours, "threads", { request: requests.threads }),
      asModel("OpenAI chat completions", requests.openaiChat),
      asModel("OpenAI Responses", requests.openaiResponses),
      renamed(raw, "raw JSON", { request: requests.rawJson }),
      renamed(ours, "REST JSON", { request: requests.restJson, base: "raw JSON" }),
    ],
  },
  {
    name: "bindings",
    title: "Bindings: as burst, AG-UI over each",
    ...burst,
    runs: 400,
    subjects: [
      raw,
      renamed(ours, "node:http"),
      subject("Express", "ours-express"),
      subject("Fastify", "ours-fastify"),
      subject("fetch through Hono", "ours-hono"),
    ],
  },
  {
    name: "stores",
    title: "Stores: as burst, every event appended before it is sent",
    ...burst,
    runs: 200,
    subjects: [raw, ...["memory", "sqlite", "redis"].map(stored)],
  },
  {
    name: "stores-paced",
    title: "Stores, paced: 300 streams, one delta each 20 ms",
    unit: "delta",
    work: { ...text, deltas: 100, size: 24, everyMs: 20 },
    connections: 300,
    runs: 300,
    isPaced: true,
    subjects: [raw, ...["memory", "sqlite", "redis"].map(stored)],
  },
  {
    name: "resume",
    title: "Resume: a finished run of 10,000 events, read again from its second one",
    type: "resume",
    unit: "event",
    work: { ...text, deltas: 10_000, isKept: true },
    connections: 4,
    runs: 40,
    subjects: [raw, ...["memory", "sqlite", "redis"].map(stored)],
  },
  {
    name: "linear",
    title: "Linear: cost of an event in longer runs",
    ...burst,
    unit: "event",
    connections: 4,
    subjects: [
      ...[raw, ours].flatMap((one) => [
        sized(one, 200, 400),
        sized(one, 2_000, 40),
        sized(one, 20_000, 4),
      ]),
      sized(renamed(ours, "state", { work: state }), 200, 100),
      sized(renamed(ours, "state", { work: state }), 2_000, 10),
    ],
  },
  { name: "import", title: "Import: CPU of a fresh process", type: "import", unit: "import" },
];

/** What each peer installs, and what a host of ours does. */
export const installs = {
  "Express + @ag-ui/encoder": ["express", "@ag-ui/encoder"],
  "TanStack AI": ["@tanstack/ai", "@hono/node-server"],
  "Hono streamSSE": ["hono", "@hono/node-server"],
  "AI SDK 6": ["ai"],
  "assistant-stream": ["assistant-stream", "@hono/node-server"],
  "CopilotKit runtime": ["@copilotkit/runtime", "@ag-ui/client", "rxjs"],
  ours: ["@holodeck/agui", "@holodeck/agui-node"],
};
