// `node --import` of this: runs the sources as they are. It does less than tsx, and starts in a fraction of the time.
import { register } from "node:module";

register("./typescript-hooks.mjs", import.meta.url);
