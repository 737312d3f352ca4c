import { isOpaqueId } from "@holodeck/agui-core";

/** How the ids of sessions look. */
export type IdFormat = "ulid" | "uuid" | "any";

interface IdRule {
  /** The message for an invalid id. */
  readonly message: string;
  /** For JSON Schema. */
  readonly pattern?: string;
  isId(id: string): boolean;
  /** The id as the session is kept under: the letters of some count in either case. */
  fold(id: string): string;
}

const ulid = /^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$/;
const uuid = /^[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$/;

/** What an id must be, by format. */
export const idRules: Readonly<Record<IdFormat, IdRule>> = {
  ulid: {
    message: "session_id must be valid ULID",
    pattern: ulid.source,
    isId: (id) => ulid.test(id),
    fold: (id) => id.toUpperCase(),
  },
  uuid: {
    message: "session_id must be valid UUID",
    pattern: uuid.source,
    isId: (id) => uuid.test(id),
    fold: (id) => id.toLowerCase(),
  },
  any: {
    message: "session_id must be 1 to 256 visible characters",
    isId: isOpaqueId,
    fold: (id) => id,
  },
};
