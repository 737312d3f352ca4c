import { lastUserText } from "@holodeck/agui";
import type { RunAgentInput, RunContext } from "@holodeck/agui";

// What runs have noted, for the check that asks for it: plain memory, which requests may share on every host.
const notes = new Map<string, string>();

const word = "0123456789abcdef";

/** An agent that does what the last message asks for: "gate key 3" is three deltas, each after the client has opened it. */
export async function* agent(
  input: RunAgentInput,
  context: RunContext,
): AsyncGenerator<string, void, undefined> {
  const [command = "", ...args] = lastUserText(input).split(/\s+/);
  const [first = "", second = ""] = args;
  switch (command) {
    case "say":
      for (const text of args) yield `${text} `;
      return;
    case "gate":
      for (let at = 0; at < Number(second); at++) {
        yield `${at} `;
        await opened(`${first}/${at}`, context.signal);
      }
      return;
    case "open":
      notes.set(`open ${first}`, "");
      return;
    case "quiet":
      await sleep(Number(first), context.signal);
      yield "done";
      return;
    case "note":
      notes.set(first, "begun");
      yield "begun ";
      await opened(first, context.signal);
      notes.set(first, "finished");
      yield "finished";
      return;
    case "wait":
      yield "begun";
      try {
        await sleep(30_000, context.signal);
      } finally {
        notes.set(first, context.signal.aborted ? "aborted" : "left");
      }
      return;
    case "noted":
      yield notes.get(first) ?? "nothing";
      return;
    case "flood":
      for (let left = Number(first); left > 0; left--) yield word.repeat(1024);
      return;
    case "tool":
      await context.emit.toolResult(context.emit.toolCall("weather", { city: first }), {
        celsius: 21,
      });
      yield `It is warm in ${first}.`;
      return;
    case "ask":
      yield `You are at ${JSON.stringify(await context.callTool("locate", {}))}.`;
      return;
    case "state":
      await context.state.set({ count: 0 });
      await context.state.update<{ count: number }>((draft) => {
        draft.count = 7;
      });
      return;
    case "files":
      yield context.files.map(({ name, size }) => `${name}:${size}`).join(" ");
      return;
    case "fail":
      throw new Error("The agent failed, as it was asked to.");
    default:
      yield `You have sent ${input.messages.length} messages.`;
  }
}

// Looked at by a timer of this request: another one has opened it.
async function opened(key: string, signal: AbortSignal): Promise<void> {
  while (!notes.has(`open ${key}`)) await sleep(20, signal);
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
