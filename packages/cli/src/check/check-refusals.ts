import { NoAnswer } from "./read/ask.ts";
import type { Answer } from "./read/ask.ts";
import type { CheckId } from "./report/catalogue.ts";
import { describeAnswer, sseType, mediaTypeOf } from "./probes.ts";
import type { Probe } from "./probes.ts";
import { createRunInput } from "./read/run-input.ts";

const bigBytes = 16 * 1024 * 1024;

/**
 * Sends what a server must refuse, or at least survive. Resolves to false once the server stops
 * responding.
 */
export async function checkRefusals(probe: Probe): Promise<boolean> {
  const { findings } = probe;
  await probe.send({ method: "GET", body: undefined }, "a GET");
  await mustRefuse(probe, "bad-json", { body: '{"threadId": "check", "messages": [' });
  await mustRefuse(probe, "bad-input", {
    body: JSON.stringify({ threadId: 5, runId: ["r"], messages: "none", tools: 1, context: 2 }),
  });
  await mustRefuse(probe, "media-type", {
    body: "<run><message>Hello</message></run>",
    headers: { "content-type": "application/xml" },
  });
  await checkMissingFields(probe);
  await checkSnakeCase(probe);
  await checkCors(probe);
  await checkBigBody(probe);
  const last = await probe.send({ body: "{" }, "the request after the big one");
  if (!(last instanceof NoAnswer) || !last.isGone) return true;
  findings.miss("survives-leaving", "The server stopped responding.");
  return false;
}

async function mustRefuse(
  probe: Probe,
  id: CheckId,
  question: { body: string; headers?: Record<string, string> },
): Promise<void> {
  const name = `the request of ${id}`;
  const answer = await probe.send({ ...question, isEnough: () => true }, name);
  if (isAbsent(probe, id, answer)) return;
  probe.findings.show(id);
  if (!isRefusal(answer)) probe.findings.break(id, describeAnswer(answer), name);
}

async function checkMissingFields(probe: Probe): Promise<void> {
  const name = "the request of missing-fields";
  const answer = await probe.send({ body: "{}", isEnough: hasFrame }, name);
  const { findings } = probe;
  if (isAbsent(probe, "missing-fields", answer)) return;
  if (isRefusal(answer)) return findings.show("missing-fields", "Refused.");
  findings.show("missing-fields", "Accepted; the server generates the ids.");
  const text = answer instanceof NoAnswer ? "" : answer.bytes.toString("utf8");
  const hasIds = /"threadId":\s*"[^"]+"/.test(text) && /"runId":\s*"[^"]+"/.test(text);
  const isError = /"type":\s*"RUN_ERROR"/.test(text);
  if (isStream(answer) && (hasIds || isError)) return;
  findings.break("missing-fields", describeAnswer(answer), name);
}

async function checkSnakeCase(probe: Probe): Promise<void> {
  const name = "the request of snake-case";
  const { threadId, runId, messages } = createRunInput(probe.target.prompts[0]!);
  const body = JSON.stringify({ thread_id: threadId, run_id: runId, messages, tools: [] });
  const answer = await probe.send({ body, isEnough: hasFrame }, name);
  const { findings } = probe;
  if (isAbsent(probe, "snake-case", answer)) return;
  if (isRefusal(answer)) return findings.show("snake-case", "Refused.");
  if (!isStream(answer)) {
    findings.show("snake-case");
    return findings.break("snake-case", describeAnswer(answer), name);
  }
  const isUnderstood = (answer as Answer).bytes.includes(threadId);
  findings.show("snake-case", isUnderstood ? "Understood." : "Accepted, but its ids were ignored.");
}

async function checkCors(probe: Probe): Promise<void> {
  const origin = "https://check.example";
  const headers = {
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type",
  };
  const answer = await probe.send({ method: "OPTIONS", headers }, "a preflight");
  if (answer instanceof NoAnswer) return;
  const allowed = answer.headers["access-control-allow-origin"];
  const withCredentials = answer.headers["access-control-allow-credentials"] === "true";
  const who =
    allowed === undefined
      ? "No CORS: only same-origin pages can call it."
      : allowed === "*" || allowed === origin
        ? `Pages of any origin can call it${withCredentials ? ", with credentials" : ""}.`
        : `Pages of ${allowed} can call it.`;
  probe.findings.show("cors", who);
}

async function checkBigBody(probe: Probe): Promise<void> {
  const name = "the request of 16 MiB";
  const { findings } = probe;
  const [head, tail] = JSON.stringify(createRunInput("…")).split("…") as [string, string];
  const body = Buffer.concat([Buffer.from(head), Buffer.alloc(bigBytes, "x"), Buffer.from(tail)]);
  const answer = await probe.send({ body, isEnough: () => true }, name);
  if (isAbsent(probe, "big-body", answer)) return;
  if (!(answer instanceof NoAnswer)) {
    findings.show("big-body", `Status ${answer.status}.`);
    if (answer.status >= 500) findings.break("big-body", describeAnswer(answer), name);
    return;
  }
  // A server that refuses while the body is still being sent may have to close the connection.
  const next = await probe.send({ body: "{" }, "the request after the big one");
  findings.show("big-body", "The connection was closed, and the next request answered.");
  if (next instanceof NoAnswer) findings.break("big-body", describeAnswer(next), name);
}

function isAbsent(probe: Probe, id: CheckId, answer: Answer | NoAnswer): boolean {
  if (!(answer instanceof NoAnswer) || !answer.isGone) return false;
  probe.findings.miss(id, "The server stopped responding.");
  return true;
}

function isRefusal(answer: Answer | NoAnswer): boolean {
  return !(answer instanceof NoAnswer) && answer.status >= 400 && answer.status < 500;
}

function isStream(answer: Answer | NoAnswer): boolean {
  return !(answer instanceof NoAnswer) && answer.status === 200 && mediaTypeOf(answer) === sseType;
}

function hasFrame(tail: string): boolean {
  return /\n\r?\n/.test(tail);
}
