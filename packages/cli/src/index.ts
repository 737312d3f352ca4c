export { main } from "./main.ts";
export type { Command, Io } from "./io.ts";
