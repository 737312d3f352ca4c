import { createOnce } from "@holodeck/agui-core/internal";
import type * as AguiSchemas from "@ag-ui/core/schemas";

type Schemas = typeof AguiSchemas;

/** AG-UI's zod schemas, loaded on first use: they cost more to import than everything else here. */
export const loadSchemas: () => Promise<Schemas> = /* @__PURE__ */ createOnce(
  () => import("@ag-ui/core/schemas"),
);
