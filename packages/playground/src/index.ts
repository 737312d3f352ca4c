export { playgroundFile } from "./playground-file.ts";
export type { PlaygroundFile } from "./playground-file.ts";
