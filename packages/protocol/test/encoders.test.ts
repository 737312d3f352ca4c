import { decode } from "@ag-ui/proto";
import { aguiProtoEncoder, aguiSseEncoder, loadProtoEncoder } from "@holodeck/agui-protocol";
import { testEncoder } from "@holodeck/agui-testing/vitest";
import type { Chunk } from "@holodeck/agui-core";

await loadProtoEncoder();

testEncoder("AG-UI 1.1 over SSE", () => aguiSseEncoder({ protocolVersion: "1.1" }), {
  parse: readFrame,
});

testEncoder("AG-UI 1.0 over SSE", () => aguiSseEncoder({ protocolVersion: "1.0" }), {
  parse: readFrame,
});

testEncoder("AG-UI before 1.0 over SSE", () => aguiSseEncoder(), {
  // These came with 1.0; what a subagent says is kept, its beginning and end are not.
  dropped: ["SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR"],
  parse: readFrame,
});

testEncoder(
  "AG-UI 1.0 over SSE in snake_case",
  () => aguiSseEncoder({ protocolVersion: "1.0", wireCase: "snake" }),
  { parse: readFrame },
);

testEncoder("AG-UI 1.0 over protobuf", () => aguiProtoEncoder(), {
  parse(chunk) {
    const bytes = chunk as Uint8Array;
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, false);
    if (length + 4 !== bytes.length) throw new RangeError("Not one frame.");
    return decode(bytes.subarray(4));
  },
});

function readFrame(chunk: Chunk): unknown {
  const data = String(chunk)
    .split("\n")
    .filter((line) => line.startsWith("data: "));
  if (data.length !== 1) throw new SyntaxError(`A frame with ${data.length} lines of data.`);
  return JSON.parse(data[0]!.slice(6));
}
