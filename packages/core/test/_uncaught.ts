type Listener = (...args: unknown[]) => void;

const events = ["uncaughtException", "unhandledRejection"] as const;

/** What would have ended the process while `work` ran. */
export async function uncaughtDuring(work: () => Promise<void> | void): Promise<unknown[]> {
  const caught: unknown[] = [];
  const before = events.map((event) => [event, process.rawListeners(event)] as const);
  const listen: Listener = (error) => void caught.push(error);
  for (const event of events) {
    process.removeAllListeners(event);
    process.on(event, listen);
  }
  try {
    await work();
    // rxjs reports from a timer of no length, set before this one; Node from the next turn.
    await new Promise((resolve) => setTimeout(resolve, 0));
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    for (const [event, listeners] of before) {
      process.removeAllListeners(event);
      for (const listener of listeners) process.on(event, listener as Listener);
    }
  }
  return caught;
}
