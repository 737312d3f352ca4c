import { expect, test } from "vitest";
// @ts-expect-error -- a script without types
import { tableOf, traceRequests } from "../trace.mjs";

test("a run over AG-UI visits few rooms, and goes from one to another rarely", () => {
  const traces: Record<string, string[]> = traceRequests();
  const rooms = traces["POST /agui"]!;
  const visited = [...new Set(rooms)];
  const table = `${tableOf(traces)}\nPOST /agui visits ${visited.toSorted().join(", ")}`;
  // It did run: from the binding through the guard to the store.
  expect(visited, table).toEqual(
    expect.arrayContaining(["node", "agui/http", "core/guard", "sessions/memory"]),
  );
  expect(visited.length, table).toBeLessThanOrEqual(16);
  expect(rooms.length, table).toBeLessThanOrEqual(260);
}, 300_000);
