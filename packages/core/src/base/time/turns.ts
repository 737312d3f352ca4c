import { isRequestBound } from "./request-bound.ts";

type Task = () => void;
type Scheduler = (task: Task) => void;

/** A member with work at the end of a turn. An object, so that no closure is created and kept for it. */
export interface TurnMember {
  endTurn(): void;
}

// A queue serves the tasks of all requests with one hop. Where timers belong to requests, each task has its own.

/** Runs a task in the next macrotask, after timers and I/O had their turn. */
export const nextMacrotask: (task: Task) => void = isRequestBound
  ? setZeroTimeout
  : createQueue(createScheduler(), (task) => task());

/**
 * Notifies a member when this turn is over: on Node after the promises settled so far have been handled, and
 * before any timer or socket. A macrotask would be too late there: timers that are always due delay it (bench
 * scenario `paced-300`).
 */
export const atTurnEnd: (member: TurnMember) => void = isRequestBound
  ? (member) => setZeroTimeout(() => member.endTurn())
  : createQueue(tickScheduler() ?? createScheduler(), (member) => member.endTurn());

/** Resolves in the next macrotask. */
export function nextTurn(): Promise<void> {
  return new Promise(nextMacrotask);
}

function createQueue<T>(schedule: Scheduler, run: (task: T) => void): (task: T) => void {
  // Two lists that take turns, and are emptied place by place: a list that has grown old would keep the
  // runs of its tasks until the next full collection, long after it was thrown away.
  let waiting: (T | undefined)[] = [];
  let running: (T | undefined)[] = [];
  let count = 0;

  function add(task: T): void {
    waiting[count++] = task;
    if (count === 1) schedule(drain);
  }

  function drain(): void {
    const tasks = waiting;
    const end = count;
    waiting = running;
    running = tasks;
    count = 0;
    let next = 0;
    try {
      while (next < end) run(take(tasks, next++));
    } finally {
      // An error of one member must not affect the others, which belong to other runs.
      while (next < end) add(take(tasks, next++));
    }
  }

  return add;
}

function take<T>(tasks: (T | undefined)[], place: number): T {
  const task = tasks[place]!;
  tasks[place] = undefined;
  return task;
}

function tickScheduler(): Scheduler | undefined {
  const { process } = globalThis as { process?: { nextTick?: Scheduler } };
  return process?.nextTick && ((task) => process.nextTick!(task));
}

// Node has setImmediate; elsewhere a message port, where there is one, is the only macrotask without a clamp.
function createScheduler(): Scheduler {
  const { setImmediate } = globalThis as { setImmediate?: (task: Task) => unknown };
  if (setImmediate) return (task) => void setImmediate(task);
  if (typeof MessageChannel === "undefined") return setZeroTimeout;
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

function setZeroTimeout(task: Task): void {
  setTimeout(task, 0);
}
