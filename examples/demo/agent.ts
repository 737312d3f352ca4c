import type { AgentFunction } from "@holodeck/agui";

/** An agent without a model: greets, calls a tool, keeps a little state, repeats what it was told. */
export const demoAgent: AgentFunction = async function* (input, context) {
  const { emit, signal, state } = context;
  const asked = lastUserText(input.messages);

  yield* words("Hello! I am the demo agent. Let me look at the weather first.", signal);

  const city = "Berlin";
  const call = emit.toolCall("get_weather", { city });
  await pause(40, signal);
  const weather = { city, celsius: 21, sky: "clear" };
  await emit.toolResult(call, weather);
  await state.set({ weather, runs: runsSoFar(state.get()) + 1 });

  yield* words(`It is ${weather.celsius} degrees in ${city}, with a ${weather.sky} sky.`, signal);
  yield* words(asked === "" ? " You said nothing." : ` You said: ${asked}`, signal);
};

async function* words(text: string, signal: AbortSignal): AsyncGenerator<string> {
  for (const word of text.split(/(?<=\s)/)) {
    yield word;
    await pause(25, signal);
  }
}

// Rejects at once when the run is stopped, so that nothing is left waiting.
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}

function lastUserText(messages: readonly { role: string; content?: unknown }[]): string {
  const content = messages.findLast((message) => message.role === "user")?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

function runsSoFar(state: unknown): number {
  const runs = (state as { runs?: unknown } | undefined)?.runs;
  return typeof runs === "number" ? runs : 0;
}
