import type { Fault, RunAgentInput } from "@holodeck/agui-core";
import { isAgentError } from "@holodeck/agui-core";
import { decodeRunInput } from "@holodeck/agui-protocol";
import { expect } from "vitest";

/** A full and valid body, with `change` on top. */
export function body(change: Record<string, unknown> = {}): Record<string, unknown> {
  return { threadId: "t-1", runId: "r-1", messages: [], ...change };
}

export const withMessage = (message: Record<string, unknown>): Record<string, unknown> =>
  body({ messages: [{ id: "m-1", ...message }] });
export const withPart = (part: unknown): Record<string, unknown> =>
  withMessage({ role: "user", content: [part] });
export const withCall = (call: unknown): Record<string, unknown> =>
  withMessage({ role: "assistant", toolCalls: [call] });

/** What a refusal says is wrong; nothing if there is none. */
export async function faultsOf(given: unknown, ...limits: object[]): Promise<readonly Fault[]> {
  try {
    await decodeRunInput(given, ...limits);
  } catch (error) {
    if (!isAgentError(error)) throw error;
    expect(error).toMatchObject({ code: "invalid-request", status: 400 });
    return error.errors ?? [];
  }
  return [];
}

/** What an agent would see. */
export async function inputOf(given: unknown): Promise<RunAgentInput> {
  return (await decodeRunInput(given)).input;
}

/** The first message an agent would see. */
export async function messageOf(given: Record<string, unknown>): Promise<unknown> {
  return (await inputOf(given)).messages[0];
}

/** One content part as an agent would see it. */
export async function partOf(part: unknown): Promise<unknown> {
  const { messages } = await inputOf(withPart(part));
  const content = messages[0]?.content;
  return Array.isArray(content) ? content[0] : undefined;
}
