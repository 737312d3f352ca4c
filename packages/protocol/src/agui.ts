import { AgentError, assertOptions, PROTOCOL_VERSION } from "@holodeck/agui-core";
import type { Call, Encoder, Protocol, ProtocolHost, Reply, Route } from "@holodeck/agui-core";
import { decodeRunInput } from "./decode-run-input.ts";
import { negotiate } from "./negotiate.ts";
import { loadProtoEncoder, protoMediaType } from "./proto-encoder.ts";
import { loadSchemas } from "./schemas.ts";
import { aguiSseEncoder } from "./sse-encoder.ts";

/** Where AG-UI is served. */
export interface AguiOptions {
  /**
   * Where runs are posted, or several such places.
   * @default "/agui"
   */
  path?: string | readonly string[];
}

/**
 * AG-UI over HTTP: `POST {path}` runs an agent, `GET {path}/info` says what there is.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { protocols: [agui({ path: "/agents" })] });
 * ```
 */
export function agui(options: AguiOptions = {}): Protocol {
  assertOptions("agui", options, ["path"]);
  const { path = "/agui" } = options;
  const paths = (typeof path === "string" ? [path] : path).map(checkPath);
  if (paths.length === 0) throw new TypeError('agui({ path }) needs at least one, e.g. "/agui".');
  return {
    name: "agui",
    history: "client",
    routes: (host) => paths.flatMap((at) => routesAt(at, host)),
    describe: () => ({
      protocols: {
        agui: {
          path: paths.length === 1 ? paths[0] : paths,
          protocolVersion: PROTOCOL_VERSION,
          transports: ["sse", "protobuf"],
        },
      },
    }),
    warm: loadSchemas,
  };
}

function checkPath(path: string): string {
  if (!path.startsWith("/")) {
    throw new TypeError(`agui({ path: ${JSON.stringify(path)} }) must start with "/".`);
  }
  return path;
}

function routesAt(path: string, host: ProtocolHost): Route[] {
  return [
    { method: "POST", path, body: "json", handle: (call) => run(call, host) },
    {
      method: "GET",
      path: `${path.replace(/\/$/, "")}/info`,
      handle: () => ({ status: 200, body: host.info() }),
    },
  ];
}

async function run(call: Call, host: ProtocolHost): Promise<Reply> {
  const { input, agentId, protocolVersion, warnings } = await decodeRunInput(
    call.body,
    host.limits,
  );
  if (warnings.length > 0) {
    host.logger.warn({ requestId: call.requestId, warnings }, "Parts of the input were ignored.");
  }
  // Before the run starts: once it runs there is no way back to a plain answer.
  const encoder = await chooseEncoder(call.header("accept"), protocolVersion);
  const active = await host.start(call, { agentId, input, protocolVersion });
  return active.stream(encoder, "start");
}

async function chooseEncoder(
  accept: string | undefined,
  protocolVersion: string | undefined,
): Promise<Encoder> {
  // Older clients cannot decode tool results or reasoning in binary.
  const binding = negotiate(accept, { binary: protocolVersion !== undefined });
  if (binding === "proto") return loadProtoEncoder();
  if (binding === "sse") return aguiSseEncoder({ protocolVersion });
  const message = `This server answers with text/event-stream or ${protoMediaType}; Accept refuses both.`;
  throw new AgentError("not-acceptable", message);
}
