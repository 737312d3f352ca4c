// What every subject's agent does, so that only the serving differs.

/** The work as the bench says it: how many deltas, how long, how far apart. */
export const work = {
  deltas: 200,
  size: 20,
  everyMs: 0,
  ...JSON.parse(process.env.BENCH_WORK ?? "{}"),
};

/** The text of one delta: when it was made, for the latency, and filling. */
export function delta() {
  if (work.everyMs === 0) return filling;
  return `@${process.hrtime.bigint()}@`.padEnd(work.size, "x");
}

const filling = "x".repeat(work.size);

/** An agent that speaks as fast as it is asked, or once per interval. */
export async function* words() {
  for (let i = 0; i < work.deltas; i++) {
    if (work.everyMs > 0) await pause(work.everyMs);
    yield delta();
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Listens on a free port of the loopback. */
export async function listen(server) {
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) =>
    server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, resolve),
  );
  return server.address().port;
}

/** The JSON body of a Node request. */
export async function readBody(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
}
