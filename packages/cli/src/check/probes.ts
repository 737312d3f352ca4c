import { ask, NoAnswer } from "./read/ask.ts";
import type { Answer, ProbeRequest } from "./read/ask.ts";
import { examineRun } from "./examine-run.ts";
import type { ExaminedRun } from "./examine-run.ts";
import type { Findings } from "./report/findings.ts";
import { findLeak } from "./rules/leaks.ts";
import type { RunInput } from "./read/run-input.ts";
import type { Pace } from "./rules/timing.ts";

export const sseType = "text/event-stream";
export const protoType = "application/vnd.ag-ui.event+proto";

export interface CheckTarget {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly prompts: readonly string[];
}

/** Shared by the requests: the target and the report. */
export interface Probe {
  readonly target: CheckTarget;
  readonly findings: Findings;
  /** How each run came, in order. */
  readonly paces: readonly Pace[];
  /** Sends a request and looks for leaks in a refusal. */
  send(question: Partial<ProbeRequest>, name: string): Promise<Answer | NoAnswer>;
  /** Asks for a run and holds what came against the rules for streams. */
  run(input: RunInput, name: string, headers?: Record<string, string>): Promise<RunProbe>;
}

interface RunProbe {
  readonly answer: Answer | NoAnswer;
  /** Only of an answer with status 200 in SSE. */
  readonly examined?: ExaminedRun;
}

export function createProbe(target: CheckTarget, findings: Findings): Probe {
  const { url, timeoutMs } = target;
  const paces: Pace[] = [];
  const base = { "content-type": "application/json", accept: sseType, ...target.headers };

  async function send(question: Partial<ProbeRequest>, name: string): Promise<Answer | NoAnswer> {
    try {
      const headers = { ...base, ...question.headers };
      const answer = await ask({ url, timeoutMs, ...question, headers });
      if (answer.status >= 400) examineRefusal(answer, name);
      return answer;
    } catch (error) {
      if (error instanceof NoAnswer) return error;
      throw error;
    }
  }

  function examineRefusal({ bytes, status }: Answer, name: string): void {
    findings.show("http-leaks");
    const text = bytes.toString("utf8").slice(0, 100_000);
    const leak = findLeak(text, url.pathname);
    if (leak !== undefined) findings.break("http-leaks", `${leak}, with status ${status}`, name);
  }

  return {
    target,
    findings,
    paces,
    send,
    async run(input, name, headers = {}) {
      const body = JSON.stringify(input);
      const answer = await send({ body, headers, isOver: hasTerminal }, name);
      if (answer instanceof NoAnswer || answer.status !== 200) return { answer };
      if (mediaTypeOf(answer) === protoType) return { answer };
      const examined = examineRun({ name, input, answer }, findings, url.pathname);
      paces.push(examined.pace);
      return { answer, examined };
    },
  };
}

/** The media type without its parameters. */
export function mediaTypeOf({ headers }: Answer): string {
  return (headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
}

/** Describes a response for a report. */
export function describeAnswer(answer: Answer | NoAnswer): string {
  if (answer instanceof NoAnswer) return `No answer: ${answer.message}`;
  const text = answer.bytes.toString("utf8").trim().slice(0, 200);
  return `Status ${answer.status}, ${mediaTypeOf(answer) || "no Content-Type"}: ${text || "(no body)"}`;
}

function hasTerminal(tail: string): boolean {
  return /"type":\s*"RUN_(?:FINISHED|ERROR)"/.test(tail);
}
