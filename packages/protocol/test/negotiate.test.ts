import { negotiate } from "@holodeck/agui-protocol";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

const proto = "application/vnd.ag-ui.event+proto";
const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

describe("negotiate", () => {
  test.for<[string | undefined, "sse" | "proto" | undefined]>([
    [undefined, "sse"],
    ["", "sse"],
    ["text/event-stream", "sse"],
    ["application/json", "sse"],
    ["application/octet-stream", "sse"],
    ["*/*", "sse"],
    ["application/*", "sse"],
    ["text/*", "sse"],
    [browser, "sse"],
    ["application/json, text/plain, */*", "sse"],
    [proto, "proto"],
    [proto.toUpperCase(), "proto"],
    [` ${proto} ; q=0.3 `, "proto"],
    [`text/event-stream, ${proto}`, "proto"],
    [`${proto}, text/event-stream`, "proto"],
    [`text/event-stream, ${proto};q=0.1`, "sse"],
    [`text/event-stream;q=0.1, ${proto};q=0.2`, "proto"],
    [`text/event-stream;q=0, ${proto};q=0.1`, "proto"],
    ["text/event-stream;q=1, */*;q=0.1", "sse"],
    [`${proto}, */*;q=0.1`, "proto"],
    [`${proto};q=0.1, */*`, "sse"],
    [`${proto};q=0.5, text/*;q=0.6, */*;q=0.1`, "sse"],
    [`${proto};q=0, */*`, "sse"],
    [`${proto};q=0`, "sse"],
    [`${proto};q=0.000`, "sse"],
    [`${proto};v=1`, "sse"],
    [`${proto};q=1;ext=1`, "proto"],
    ["text/event-stream;charset=utf-8;q=0.5", "sse"],
    ["text/event-stream;q=0", undefined],
    ["text/event-stream; Q=0.0", undefined],
    ["*/*;q=0", undefined],
    ["text/*;q=0", undefined],
    ["*/*;q=0, application/json", undefined],
    ["text/event-stream;q=0, */*", undefined],
    [`text/event-stream;q=0, ${proto};q=0`, undefined],
    ["text/event-stream, */*;q=0", "sse"],
    ["text/event-stream;q=0, text/event-stream", "sse"],
    ["text/event-stream;q=abc", "sse"],
    ["text/event-stream;q=-1", "sse"],
    [`${proto};q=2`, "sse"],
    [`${proto};q=`, "sse"],
    ["garbage", "sse"],
    [",,;;,/", "sse"],
    [`text/html;title="a, ${proto}"`, "sse"],
    [`text/html;title="a\\", b", ${proto}`, "proto"],
    [`text/html;title="never closed, ${proto}`, "sse"],
  ])("answers %j with %s", ([accept, binding]) => {
    expect(negotiate(accept, { binary: true })).toBe(binding);
  });

  test.for<[string, "sse" | undefined]>([
    [proto, "sse"],
    [`${proto}, text/event-stream;q=0.1`, "sse"],
    [`${proto}, text/event-stream;q=0`, undefined],
  ])("never answers %j with protobuf to a client that cannot read it", ([accept, binding]) => {
    expect(negotiate(accept, { binary: false })).toBe(binding);
  });

  test("has an answer to every header", () => {
    const piece = fc.constantFrom(
      proto,
      "text/event-stream",
      "*/*",
      ";q=",
      "0",
      "0.5",
      ",",
      ";",
      '"',
      "\\",
      " ",
    );
    const header = fc.oneof(
      fc.string(),
      fc.array(piece).map((pieces) => pieces.join("")),
    );
    fc.assert(
      fc.property(header, fc.boolean(), (accept, binary) => {
        const binding = negotiate(accept, { binary });
        expect(["sse", "proto", undefined]).toContain(binding);
        if (binding === "proto") expect(accept.toLowerCase()).toContain(proto);
        if (binding === undefined) expect(accept).toMatch(/q\s*=\s*0/i);
      }),
    );
  });
});
