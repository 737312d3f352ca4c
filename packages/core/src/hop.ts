type Task = () => void;

// Two lists that take turns, and are emptied place by place: a list that has grown old would keep the runs
// of its tasks until the next full collection, long after it was thrown away.
let waiting: (Task | undefined)[] = [];
let running: (Task | undefined)[] = [];
let count = 0;

// Node has setImmediate; elsewhere a message port is the only macrotask without a clamp.
const schedule: (task: Task) => void = createScheduler();

/** Runs a task in the next macrotask, after timers and I/O had their turn. One hop serves all tasks. */
export function hop(task: Task): void {
  waiting[count++] = task;
  if (count === 1) schedule(drain);
}

/** Resolves in the next macrotask. */
export function nextTurn(): Promise<void> {
  return new Promise(hop);
}

function drain(): void {
  const tasks = waiting;
  const end = count;
  waiting = running;
  running = tasks;
  count = 0;
  let next = 0;
  try {
    while (next < end) take(tasks, next++)();
  } finally {
    // One that throws must not take the turn of the others, who are other runs.
    while (next < end) hop(take(tasks, next++));
  }
}

function take(tasks: (Task | undefined)[], place: number): Task {
  const task = tasks[place]!;
  tasks[place] = undefined;
  return task;
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
