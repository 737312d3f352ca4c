import { createApp } from "../app.edge.mjs";

/** One object serves all threads: timers and memory are its own. */
export class Agents {
  #app = createApp("/api");

  fetch(request) {
    return this.#app.fetch(request);
  }
}

export default {
  fetch(request, { OBJECT }) {
    return OBJECT.get(OBJECT.idFromName("agents")).fetch(request);
  },
};
