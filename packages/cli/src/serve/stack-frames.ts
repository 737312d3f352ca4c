import { fileURLToPath } from "node:url";

// The location of this command and its sibling packages; a user's code is elsewhere.
const packages = fileURLToPath(new URL("../../../", import.meta.url));
const most = 5;

/** Where an error comes from: the frames of the user's own code, or the first ones if there are none. */
export function ownFrames(error: Error): string[] {
  const frames = allFrames(error);
  const own = frames.filter(isOwn);
  return (own.length > 0 ? own : frames).slice(0, most);
}

/** Every frame of a stack, with paths instead of URLs. */
export function allFrames({ stack = "" }: Error): string[] {
  return stack.split("\n").flatMap((line) => {
    const frame = /^\s+at (.+)$/.exec(line)?.[1];
    return frame === undefined ? [] : [`at ${frame.replace(/file:\/\/[^\s)]+/, toPath)}`];
  });
}

// A file that was read again has a number in its URL.
function toPath(url: string): string {
  const [, file = url, place = ""] = /^(.*?)(?:\?[^:]*)?((?::\d+)*)$/.exec(url) ?? [];
  try {
    return `${fileURLToPath(file)}${place}`;
  } catch {
    // Not one of this machine.
    return url;
  }
}

function isOwn(frame: string): boolean {
  return !/\bnode:|[\\/]node_modules[\\/]|<anonymous>/.test(frame) && !frame.includes(packages);
}
