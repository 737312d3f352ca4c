/** Work on the same name is done one after the other, in the order in which it was asked for. */
export function createTurns(): <T>(name: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();

  return (name, work) => {
    const before = last.get(name);
    const turn = before ? before.then(work, work) : work();
    last.set(name, turn);
    const done = (): void => {
      if (last.get(name) === turn) last.delete(name);
    };
    turn.then(done, done);
    return turn;
  };
}
