/**
 * How many times longer a work takes when it has four times as much to do: about 4 where its time grows with the
 * amount, 16 where it grows with the square. Times of this process, of which the best counts: others on the machine
 * do not slow them down.
 */
export async function growth(work: (amount: number) => unknown): Promise<number> {
  let amount = 1_000;
  // Shorter times would be those of the clock.
  while ((await cpuTime(() => work(amount))) < 20_000) amount *= 2;
  return (await best(() => work(4 * amount))) / (await best(() => work(amount)));
}

async function best(work: () => unknown): Promise<number> {
  const times = [await cpuTime(work), await cpuTime(work), await cpuTime(work)];
  return Math.min(...times);
}

/** In microseconds. */
async function cpuTime(work: () => unknown): Promise<number> {
  const began = process.cpuUsage();
  await work();
  return process.cpuUsage(began).user;
}
