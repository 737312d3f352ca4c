type Container = unknown[] | Record<string, unknown>;

/** How to take back what was done to a document in its place. */
export class UndoLog {
  readonly #steps: (() => void)[] = [];
  /** Objects that are restored as a whole, whatever else happens to them. */
  #saved: Set<object> | undefined = undefined;

  add(step: () => void): void {
    this.#steps.push(step);
  }

  /** Before a member is set. */
  keepMember(container: Container, key: string): void {
    if (this.#saved?.has(container)) return;
    const members = container as Record<string, unknown>;
    const isNew = !Object.hasOwn(members, key);
    const before = members[key];
    this.#steps.push(() => {
      if (isNew) delete members[key];
      else members[key] = before;
    });
  }

  /** Called before a member is removed: a restored member must have its old position. */
  keepMembers(members: Record<string, unknown>): void {
    if (this.#saved?.has(members)) return;
    (this.#saved ??= new Set()).add(members);
    const before = { ...members };
    this.#steps.push(() => {
      for (const key of Object.keys(members)) delete members[key];
      Object.assign(members, before);
    });
  }

  /** The last first. */
  takeBack(): void {
    for (let i = this.#steps.length - 1; i >= 0; i--) this.#steps[i]!();
  }
}
