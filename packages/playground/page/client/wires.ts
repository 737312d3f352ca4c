import type { RunAgentInput } from "@ag-ui/core";
import type { Wire } from "../model.ts";
import { sendAguiProto, sendAguiSse } from "./agui.ts";
import type { Sent } from "./exchange.ts";
import { sendRest } from "./rest.ts";
import type { SendOptions } from "./types.ts";
import { sendVercel } from "./vercel.ts";

/** How a run is sent over each wire. */
export const wires: Readonly<Record<Wire, (input: RunAgentInput, options: SendOptions) => Sent>> = {
  "agui-sse": sendAguiSse,
  "agui-proto": sendAguiProto,
  vercel: sendVercel,
  rest: sendRest,
};
