import type { AgentHandler } from "@holodeck/agui";
import type { Json } from "@holodeck/agui-core";
import { parseSse } from "../../packages/agui/test/_helpers.ts";
import { createAnswerCheck } from "../../packages/agui/test/_operations.ts";
import { legacy, sse } from "../../packages/agui/test/_wires.ts";

/** A request as it is kept in the corpus. */
export interface HttpCase {
  /** The operation of the OpenAPI document, as `POST /agui`. */
  readonly operation: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Instead of `body`: base64. */
  readonly bytes?: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encodeCase(one: HttpCase): Uint8Array {
  return encoder.encode(`${JSON.stringify(one, null, 2)}\n`);
}

export function decodeCase(input: Uint8Array): HttpCase {
  return JSON.parse(decoder.decode(input)) as HttpCase;
}

/** Sends requests to a handler, and finds what is wrong with the answers. */
export async function createHttpFeed(
  handler: AgentHandler,
): Promise<(input: Uint8Array) => Promise<string[]>> {
  const check = createAnswerCheck(await handler.openapi());
  return async (input) => {
    const one = decodeCase(input);
    const request = toRequest(one);
    // Not a request that `fetch` can send.
    if (!request) return [];
    const response = await handler.fetch(request);
    const text = await response.text();
    const { status, headers } = response;
    // Nothing to attach to: a stream that ends at once.
    const isEmpty = text === "" && headers.get("content-type") === "text/event-stream";
    const faults = [...errorFaults(one, response, text), ...streamFaults(one, response, text)];
    if (isEmpty) return faults;
    try {
      const body = status === 204 || text === "" ? null : text;
      await check(one.operation, new Response(body, { status, headers }));
    } catch (error) {
      faults.push(error instanceof Error ? error.message.slice(0, 500) : String(error));
    }
    return faults;
  };
}

function toRequest({ operation, path, headers, body, bytes }: HttpCase): Request | undefined {
  const method = operation.split(" ")[0]!;
  const sent = bytes === undefined ? body : Buffer.from(bytes, "base64");
  try {
    return new Request(`http://test.local${path}`, {
      method,
      headers,
      ...(sent === undefined || method === "GET" ? {} : { body: sent }),
    });
  } catch {
    return undefined;
  }
}

// An agent that works, on a store that works: the server has no reason to fail.
function errorFaults({ operation }: HttpCase, response: Response, text: string): string[] {
  const { status } = response;
  if (status < 400) return [];
  const isOpenAi = / \/v1\//.test(operation);
  const faults = isOpenAi ? openAiFaults(response, text) : problemFaults(response, text);
  if (status >= 500) faults.push(`${status}: ${text.slice(0, 300)}`);
  return faults;
}

// In the form that clients of OpenAI read.
function openAiFaults({ headers }: Response, text: string): string[] {
  const type = headers.get("content-type");
  if (type !== "application/json") return [`an error as ${type}`];
  const { error } = JSON.parse(text) as { error?: Json };
  const isWhole = [error?.message, error?.type].every(
    (one) => typeof one === "string" && one !== "",
  );
  return isWhole ? [] : [`an incomplete error: ${text}`];
}

function problemFaults({ status, headers }: Response, text: string): string[] {
  const type = headers.get("content-type");
  if (type !== "application/problem+json") return [`${status} as ${type}, not as a problem`];
  const { code, title, detail, status: stated } = JSON.parse(text) as Json;
  const isWhole = [code, title, detail].every((one) => typeof one === "string" && one !== "");
  return isWhole && stated === status ? [] : [`an incomplete problem: ${text}`];
}

const aguiRuns = /^POST \/agui(\/agent\/\{agentId\}\/(run|connect))?$/;

function streamFaults(
  { operation, headers, body }: HttpCase,
  response: Response,
  text: string,
): string[] {
  if (response.headers.get("content-type") !== "text/event-stream") return [];
  if (text !== "" && !text.endsWith("\n\n")) return ["a stream that ends inside of a frame"];
  const wrong = text.split("\n").find((line) => !/^(?:(?:data|id|event|retry):|:|$)/.test(line));
  if (wrong !== undefined) return [`a line that is not SSE: ${wrong.slice(0, 100)}`];
  const isWhole = !Object.keys(headers).some((name) => name.toLowerCase() === "last-event-id");
  if (!aguiRuns.test(operation) || !isWhole || body === undefined) return [];
  const events = parseSse(text);
  // Nothing to attach to.
  if (events.length === 0) return [];
  const wire = /"protocol_?[vV]ersion"/.test(body) ? sse : legacy;
  const faults = wire.faults(events);
  const isJudgedByBoth =
    faults.length > 0 && (wire === sse ? legacy : sse).faults(events).length > 0;
  return isJudgedByBoth ? faults.slice(0, 3) : [];
}
