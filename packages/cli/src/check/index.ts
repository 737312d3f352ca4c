import { readHeaders, readUrl } from "../chat/target.ts";
import { usageError } from "../shared/cli-error.ts";
import type { Command, Io } from "../shared/io.ts";
import { toCommand } from "../shared/to-command.ts";
import type { FlagValues } from "../shared/to-command.ts";
import type { NoAnswer } from "./read/ask.ts";
import type { CheckResult } from "./report/findings.ts";
import type { CheckTarget } from "./probes.ts";

const usage = `Usage: holodeck check <url> [options]

Checks any AG-UI endpoint, in any language, against the protocol. It starts about ten runs.

  --agent-prompt <text>   the message to send; several start more runs,
                          so that tools, state and errors are seen too
  --header 'name: value'  sent with every request; repeatable
  --timeout <seconds>     for each request (30)
  --json                  the results as JSON
  --help

Exit code: 0 if no rule fails, 1 if one does, 2 for usage errors or no server.
`;
const short = "Try: holodeck check http://127.0.0.1:8000/agui";
const defaultPrompt = "Hello! Please answer in one short sentence. (Grüße, 漢字, 🙂)";

const flags = {
  "agent-prompt": { type: "string", multiple: true },
  header: { type: "string", multiple: true },
  timeout: { type: "string" },
  json: { type: "boolean" },
} as const;

/** `holodeck check <url>`: what holds and what breaks at an AG-UI endpoint. */
export const checkCommand: Command = toCommand({ usage, flags, read: readOptions, run });

interface CheckOptions {
  readonly target: CheckTarget;
  readonly isJson: boolean;
}

function readOptions(values: FlagValues<typeof flags>, words: readonly string[]): CheckOptions {
  if (words.length > 1) throw usageError(`One URL at a time, not ${words.length}.`);
  const seconds = Number(values.timeout ?? "30");
  if (!(seconds > 0 && seconds <= 3_600)) {
    const given = String(values.timeout);
    throw usageError(`"${given}" is not a time: use seconds from 1 to 3600, as --timeout 30.`);
  }
  return {
    isJson: values.json ?? false,
    target: {
      url: readUrl(words[0], short),
      headers: readHeaders(values.header),
      timeoutMs: seconds * 1_000,
      prompts: values["agent-prompt"] ?? [defaultPrompt],
    },
  };
}

async function run({ target, isJson }: CheckOptions, io: Io): Promise<number> {
  // Now and not before: --help needs no schemas.
  const { checkEndpoint } = await import("./check-endpoint.ts");
  const results = await checkEndpoint(target).catch((error: Error) => error as NoAnswer);
  if (!Array.isArray(results)) {
    if (results.name !== "NoAnswer") throw results;
    throw usageError(`No server responded at ${target.url.href}: ${results.message}.`);
  }
  await print(results, { target, isJson }, io);
  return results.some(({ verdict }) => verdict === "breaks") ? 1 : 0;
}

async function print(
  results: CheckResult[],
  { target, isJson }: CheckOptions,
  io: Io,
): Promise<void> {
  const { toSummary, toReportTable } = await import("./report/table.ts");
  if (isJson) {
    const url = target.url.href;
    io.out.write(
      `${JSON.stringify({ url, summary: toSummary(results), checks: results }, null, 2)}\n`,
    );
    return;
  }
  const isTerminal = (io.out as { isTTY?: boolean }).isTTY === true;
  const isColoured = isTerminal && io.env["NO_COLOR"] === undefined;
  io.out.write(`${target.url.href}\n\n${toReportTable(results, isColoured)}`);
}
