import fc from "fast-check";
import { expect, test } from "vitest";
import { createPrediction } from "../page/chat/state/predict-state.ts";
import { parsePartialJson } from "../page/chat/state/partial-json.ts";

test("reads JSON that is still being written", () => {
  expect(parsePartialJson('{"plan":{"title":"A wee')).toEqual({ plan: { title: "A wee" } });
  expect(parsePartialJson('{"steps":[{"a":1},{"b":')).toEqual({ steps: [{ a: 1 }, {}] });
  expect(parsePartialJson('{"a":tr')).toEqual({});
  expect(parsePartialJson("")).toBeUndefined();
});

test("has a value at every place of an object, and the whole at its end", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
      fc.nat(),
      (value, at) => {
        const text = JSON.stringify(value);
        expect(parsePartialJson(text)).toEqual(JSON.parse(text));
        const part = parsePartialJson(text.slice(0, 1 + (at % text.length)));
        expect(typeof part).toBe("object");
      },
    ),
  );
});

test("shows a state that was announced until the state itself is sent", () => {
  const prediction = createPrediction();
  const state = { value: { kept: 1 }, changed: [] };
  const entry = { state_key: "plan", tool: "make_plan", tool_argument: "plan" };
  prediction.apply({ type: "CUSTOM", name: "PredictState", value: [entry] } as never);
  prediction.apply({
    type: "TOOL_CALL_START",
    toolCallId: "c",
    toolCallName: "make_plan",
  } as never);
  expect(prediction.over(state)).toBe(state);
  prediction.apply({
    type: "TOOL_CALL_ARGS",
    toolCallId: "c",
    delta: '{"plan":{"title":"T',
  } as never);
  expect(prediction.over(state)).toEqual({
    value: { kept: 1, plan: { title: "T" } },
    changed: ["/plan"],
  });
  prediction.apply({ type: "STATE_SNAPSHOT", snapshot: {} } as never);
  expect(prediction.over(state)).toBe(state);
});
