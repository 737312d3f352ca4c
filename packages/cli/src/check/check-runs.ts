import type { Message } from "@ag-ui/core";
import { NoAnswer } from "./read/ask.ts";
import { outcomeOf } from "./examine-run.ts";
import type { ExaminedRun } from "./examine-run.ts";
import { describeAnswer, protoType, sseType, mediaTypeOf } from "./probes.ts";
import type { Probe } from "./probes.ts";
import { findProtoFault } from "./read/read-proto.ts";
import { createOldRunInput, createRunInput, createRunInputOf } from "./read/run-input.ts";
import type { RunInput } from "./read/run-input.ts";

/** Asks for runs in every way that is allowed. False when there is nothing to ask any further. */
export async function checkRuns(probe: Probe): Promise<boolean> {
  const { findings, target } = probe;
  const [prompt = "", ...others] = target.prompts;
  const input = createRunInput(prompt);
  const { answer, examined } = await probe.run(input, "the first run");
  if (answer instanceof NoAnswer) throw answer;
  findings.show("answers");
  if (answer.status !== 200) {
    const isLocked = answer.status === 401 || answer.status === 403;
    const hint = isLocked ? "Does it need a --header? " : "";
    findings.break("answers", `${hint}${describeAnswer(answer)}`, "the first run");
    return false;
  }
  findings.show("content-type");
  if (mediaTypeOf(answer) !== sseType) {
    const type = answer.headers["content-type"] ?? "none";
    findings.break("content-type", `Content-Type: ${type}`, "the first run");
  }
  for (const [index, text] of others.entries()) {
    // What the user makes fail may be refused: only the way of it is looked at.
    await probe.run(createRunInput(text), `the run of prompt ${index + 2}`);
  }
  if (examined) await checkSecondRun(probe, input, examined);
  await checkOldClient(probe, prompt);
  await checkVersions(probe, prompt);
  await checkAcceptAny(probe, prompt);
  await checkProto(probe, prompt);
  return true;
}

async function checkSecondRun(probe: Probe, first: RunInput, examined: ExaminedRun): Promise<void> {
  const { findings, target } = probe;
  const name = "the second run";
  const outcome = outcomeOf(examined.terminal);
  if (outcome !== "success" && outcome !== "cancelled") {
    const how = outcome === "none" ? "without an end" : `with ${outcome}`;
    return findings.miss("second-run", `The first run ended ${how}.`);
  }
  const answers = examined.pendingCalls.map((toolCallId): Message => ({
    id: `answer-${toolCallId}`,
    role: "tool",
    toolCallId,
    content: "{}",
  }));
  const history = examined.messages.filter(({ role }) => role !== "activity");
  const input = createRunInput(target.prompts[0]!, {
    threadId: first.threadId,
    messages: [...history, ...answers],
  });
  const { answer, examined: second } = await probe.run(input, name);
  findings.show("second-run");
  if (!second) return findings.break("second-run", describeAnswer(answer), name);
  if (outcomeOf(second.terminal) === "error") {
    findings.break("second-run", JSON.stringify(second.terminal), name);
  }
}

async function checkOldClient(probe: Probe, prompt: string): Promise<void> {
  const name = "the run without protocolVersion";
  const { answer, examined } = await probe.run(createOldRunInput(prompt), name);
  probe.findings.show("old-clients");
  if (!examined) probe.findings.break("old-clients", describeAnswer(answer), name);
}

// The oldest of the line, and one that is newer than any server.
async function checkVersions(probe: Probe, prompt: string): Promise<void> {
  for (const version of ["1.0", "1.999"]) {
    const name = `the run with protocolVersion ${version}`;
    const { answer, examined } = await probe.run(createRunInputOf(version, prompt), name);
    probe.findings.show("versions");
    if (!examined) probe.findings.break("versions", describeAnswer(answer), name);
  }
}

// As curl --compressed and every fetch ask.
async function checkAcceptAny(probe: Probe, prompt: string): Promise<void> {
  const { findings } = probe;
  const name = "the run with Accept: */*";
  const headers = { accept: "*/*", "accept-encoding": "gzip, deflate, br" };
  const { answer, examined } = await probe.run(createRunInput(prompt), name, headers);
  findings.show("accept-any");
  if (!examined) findings.break("accept-any", seenOf(answer), name);
}

async function checkProto(probe: Probe, prompt: string): Promise<void> {
  const { findings } = probe;
  const name = `the run with Accept: ${protoType}`;
  const { answer, examined } = await probe.run(createRunInput(prompt), name, { accept: protoType });
  if (examined) return findings.exempt("protobuf", "It answers in SSE when asked for protobuf.");
  if (!(answer instanceof NoAnswer) && answer.status === 406) {
    return findings.exempt("protobuf", "It refuses protobuf with 406.");
  }
  findings.show("protobuf");
  if (answer instanceof NoAnswer || mediaTypeOf(answer) !== protoType) {
    return findings.break("protobuf", describeAnswer(answer), name);
  }
  const type = answer.headers["content-type"];
  if (type !== protoType) return findings.break("protobuf", `Content-Type: ${type}`, name);
  const fault = findProtoFault(answer.bytes);
  if (fault !== undefined) findings.break("protobuf", fault, name);
}

function seenOf(answer: Parameters<typeof describeAnswer>[0]): string {
  if (answer instanceof NoAnswer || mediaTypeOf(answer) !== protoType)
    return describeAnswer(answer);
  return `Content-Type: ${protoType}`;
}
