/** The version of AG-UI that agents and handlers use. */
export const PROTOCOL_VERSION = "1.1";

/**
 * The version in which both sides understand each other: never newer than this library, and 1.0 for a peer older than
 * it. A version that cannot be read is that of a newer peer.
 */
export function commonVersion(theirs: unknown): string {
  const [, major, minor] = (typeof theirs === "string" && /^(\d+)\.(\d+)$/.exec(theirs)) || [];
  const isOlder = major !== undefined && (Number(major) < 1 || (major === "1" && minor === "0"));
  return isOlder ? "1.0" : PROTOCOL_VERSION;
}
