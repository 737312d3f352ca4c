import type * as AguiSchemas from "@ag-ui/core/schemas";

type Schemas = typeof AguiSchemas;

let loading: Promise<Schemas> | undefined;

/** AG-UI's zod schemas, loaded on first use: they cost more to import than everything else here. */
export function loadSchemas(): Promise<Schemas> {
  loading ??= import("@ag-ui/core/schemas").catch((error: unknown) => {
    // A failed import may succeed later; the next request asks again.
    loading = undefined;
    throw error;
  });
  return loading;
}
