import type { Exchange } from "../model.ts";

export function Inspector({ exchange }: { exchange: Exchange | undefined }) {
  return <aside aria-label="Inspector">{exchange ? exchange.wire : "Nothing was sent yet."}</aside>;
}
