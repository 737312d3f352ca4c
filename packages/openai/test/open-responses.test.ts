import type { Json } from "@holodeck/agui-core";
import { readSse } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { serveOpenAi } from "./_kit.ts";
import type { OpenAiServer } from "./_kit.ts";
import {
  compliantAgent,
  openResponsesVersion,
  parseEvent,
  parseResponse,
} from "./_open-responses.ts";
import type { ValidEvent, ValidResponse } from "./_open-responses.ts";

const model = "default";
const get_weather = {
  type: "function",
  name: "get_weather",
  description: "The weather of a place.",
  parameters: { type: "object", properties: { location: { type: "string" } } },
};
const ask = (content: unknown, role = "user"): Json => ({ type: "message", role, content });
const image = `data:image/png;base64,${btoa("\u0089PNG\r\n\u001a\n")}`;
const pdf = `data:application/pdf;base64,${btoa("%PDF-1.4")}`;

// What each check of the suite sends, and what its output must hold.
const checks: readonly [name: string, body: Json, output: string][] = [
  ["a text", { input: [ask("Say hello in three words.")] }, "message"],
  [
    "a system prompt",
    { input: [ask("You are a pirate.", "system"), ask("Say hello.")] },
    "message",
  ],
  ["a tool", { input: [ask("Weather in San Francisco?")], tools: [get_weather] }, "function_call"],
  [
    "the output of a function",
    {
      tools: [get_weather],
      input: [
        ask("Weather?"),
        { type: "function_call", call_id: "c1", name: "get_weather", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "18 °C" },
      ],
    },
    "message",
  ],
  [
    "an image",
    {
      input: [
        ask([
          { type: "input_text", text: "What is this?" },
          { type: "input_image", image_url: image },
        ]),
      ],
    },
    "message",
  ],
  [
    "a file",
    {
      input: [
        ask([
          { type: "input_text", text: "What is this?" },
          { type: "input_file", filename: "a.pdf", file_data: pdf },
        ]),
      ],
    },
    "message",
  ],
  [
    "a history",
    { input: [ask("My name is Alice."), ask("Hello Alice.", "assistant"), ask("My name?")] },
    "message",
  ],
];

async function create(server: OpenAiServer, body: Json): Promise<ValidResponse> {
  const response = await server.post("/responses", { model, ...body });
  expect(response.status, await response.clone().text()).toBe(200);
  return parseResponse(await response.json());
}

async function stream(server: OpenAiServer, body: Json): Promise<ValidEvent[]> {
  const response = await server.post("/responses", { model, ...body, stream: true });
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  const events: ValidEvent[] = [];
  let isDone = false;
  for await (const { event, data } of readSse(response)) {
    expect(isDone).toBe(false);
    if (data === "[DONE]") isDone = true;
    else {
      events.push(parseEvent(JSON.parse(data)));
      expect(events.at(-1)!.type).toBe(event);
    }
  }
  expect(isDone).toBe(true);
  return events;
}

describe(`the rules of Open Responses ${openResponsesVersion}`, () => {
  test.for(checks)("%s: the response is complete and valid", async ([, body, output]) => {
    const response = await create(await serveOpenAi(compliantAgent), body);
    expect(response.status).toBe("completed");
    expect(response.output.map(({ type }) => type)).toContain(output);
  });

  test.for(checks)(
    "%s: every event of the stream is valid, up to the end",
    async ([, body, output]) => {
      const events = await stream(await serveOpenAi(compliantAgent), body);
      expect(events[0]!.type).toBe("response.created");
      const end = events.at(-1)!;
      if (end.type !== "response.completed") throw new Error(`The stream ended with ${end.type}.`);
      expect(end.response!.output.map(({ type }) => type)).toContain(output);
      const numbers = events.map(({ sequence_number: number }) => number);
      expect(numbers).toEqual(numbers.map((_, index) => index));
    },
  );

  test("a tool: the stream has the call, its arguments and its end", async () => {
    const events = await stream(await serveOpenAi(compliantAgent), checks[2]![1]);
    const calls = events.filter(
      (event) =>
        (event.type === "response.output_item.added" ||
          event.type === "response.output_item.done") &&
        event.item?.type === "function_call",
    );
    expect(calls.map(({ type }) => type)).toEqual([
      "response.output_item.added",
      "response.output_item.done",
    ]);
    const types = events.map(({ type }) => type);
    expect(types).toContain("response.function_call_arguments.delta");
    expect(types).toContain("response.function_call_arguments.done");
  });

  test("a previous response: the agent has the messages before it", async () => {
    const server = await serveOpenAi(compliantAgent);
    const first = await create(server, { input: "My name is Alice." });
    const next = await create(server, { input: "My name?", previous_response_id: first.id });
    expect(next.previous_response_id).toBe(first.id);
    expect(JSON.stringify(next.output)).toContain("Your name is Alice.");
  });
});
