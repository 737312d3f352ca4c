import type { ExtractJob } from "../job.ts";
import { readXml } from "./xml.ts";
import { unzip } from "../zip.ts";

/** A reference from one part of an Office file to another, or to an address. */
export interface Relation {
  readonly type: string;
  /** The name of the part; for an external one, the address. */
  readonly target: string;
}

/** The parts of an Office file that were asked for, unpacked. */
export interface OfficePackage {
  has(part: string): boolean;
  /** The text of a part; empty when there is none. */
  read(part: string): string;
  /** What a part refers to, by id. */
  relationsOf(part: string): ReadonlyMap<string, Relation>;
}

/** Unpacks the parts of an Office file whose names begin like this, within the limit of the job. */
export function openPackage(
  bytes: Uint8Array,
  prefix: string,
  { inflatedBytes }: ExtractJob,
): OfficePackage {
  const parts = unzip(bytes, {
    maxBytes: inflatedBytes,
    isWanted: (name) =>
      name.startsWith(prefix) && (name.endsWith(".xml") || name.endsWith(".rels")),
  });
  const read = (part: string): string => decode(parts.get(part));
  return {
    has: (part) => parts.has(part),
    read,
    relationsOf(part) {
      const slash = part.lastIndexOf("/") + 1;
      const folder = part.slice(0, slash);
      return readRelations(read(`${folder}_rels/${part.slice(slash)}.rels`), folder);
    },
  };
}

function readRelations(xml: string, folder: string): ReadonlyMap<string, Relation> {
  const found = new Map<string, Relation>();
  readXml(xml, {
    open({ name, get }) {
      if (name !== "Relationship") return;
      const [id = "", type = "", target = ""] = [get("Id"), get("Type"), get("Target")];
      const isExternal = get("TargetMode") === "External";
      found.set(id, { type, target: isExternal ? target : toPart(folder, target) });
    },
    text() {},
    close() {},
  });
  return found;
}

function toPart(folder: string, target: string): string {
  const path: string[] = [];
  const whole = target.startsWith("/") ? target : folder + target;
  for (const segment of whole.split("/")) {
    if (segment === "..") path.pop();
    else if (segment !== "" && segment !== ".") path.push(segment);
  }
  return path.join("/");
}

function decode(bytes: Uint8Array | undefined): string {
  if (bytes?.[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes?.[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return new TextDecoder().decode(bytes);
}
