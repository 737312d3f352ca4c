import type { Call, ProtocolHost, Reply } from "@holodeck/agui-core";
import { checkBody } from "./bodies.ts";
import { assertAgentExists } from "./connect.ts";

/** Stops what runs on a thread, if it is the run that the client means. Its end is on its stream. */
export async function stop(call: Call, host: ProtocolHost): Promise<Reply> {
  const { agentId, threadId = "" } = call.params;
  assertAgentExists(host, agentId);
  const { runId } = checkBody("stop", call.body ?? {});
  const principal = call.principal?.id ?? "";
  const running = await host.sessions.runs.active({ principal, threadId });
  // A stop that comes late must not end the run after the one it was meant for.
  const isMeant = running === undefined || runId === undefined || running.runId === runId;
  // Suggestions run outside of threads, under a generated thread id.
  const target = running ? { runId: running.runId } : { threadId };
  if (isMeant && (await host.send(call, target, { type: "stop" }))) {
    return { status: 200, body: { stopped: true, threadId, ...target } };
  }
  const message = `Thread "${threadId}" has no such active run.`;
  return { status: 200, body: { stopped: false, message } };
}
