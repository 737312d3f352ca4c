import type { Json } from "@holodeck/agui-core";
import { version as ownVersion } from "./version.ts";

/** What the host calls its service; by default what we are. */
export function serviceOf(info: Json): { name: string; version: string } {
  const { service: name = "holodeck-agui", version = ownVersion } = info;
  return {
    name: typeof name === "string" ? name : JSON.stringify(name),
    version: typeof version === "string" ? version : JSON.stringify(version),
  };
}
