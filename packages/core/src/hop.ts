type Task = () => void;

let waiting: Task[] = [];

// Node has setImmediate; elsewhere a message port is the only macrotask without a clamp.
const schedule: (task: Task) => void = createScheduler();

/** Runs a task in the next macrotask, after timers and I/O had their turn. One hop serves all tasks. */
export function hop(task: Task): void {
  if (waiting.push(task) === 1) schedule(drain);
}

/** Resolves in the next macrotask. */
export function nextTurn(): Promise<void> {
  return new Promise(hop);
}

// As often as the pump lets an iterable breathe.
const breath = 256;

/** Counts what an agent emits; now and then a promise of the next turn, so that others get theirs. */
export function createBreath(): () => Promise<void> | undefined {
  let count = 0;
  return () => {
    if (++count < breath) return undefined;
    count = 0;
    return nextTurn();
  };
}

function drain(): void {
  const tasks = waiting;
  waiting = [];
  let next = 0;
  try {
    while (next < tasks.length) tasks[next++]!();
  } finally {
    // One that throws must not take the turn of the others, who are other runs.
    for (const task of tasks.slice(next)) hop(task);
  }
}

function createScheduler(): (task: Task) => void {
  const { setImmediate } = globalThis as { setImmediate?: (task: Task) => unknown };
  if (setImmediate) return (task) => void setImmediate(task);
  let port: MessagePort | undefined;
  let next: Task | undefined;
  return (task) => {
    next = task;
    if (!port) {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => next?.();
      port = channel.port2;
    }
    port.postMessage(0);
  };
}
