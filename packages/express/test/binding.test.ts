import { testBinding } from "@holodeck/agui-testing/vitest";
import compression from "compression";
import express from "express";
import type { RequestHandler } from "express";
import { listen } from "./_listen.ts";
import { express4 } from "./_express4.ts";
import { toExpressHandler } from "../src/index.ts";

const versions = [
  ["Express 5", express],
  ["Express 4", express4],
] as const;

const gzip = { "accept-encoding": "gzip" };

for (const [version, create] of versions) {
  const variants: [string, RequestHandler[], Record<string, string>?][] = [
    ["plain", []],
    ["behind express.json()", [create.json()]],
    ["behind compression()", [compression()], gzip],
  ];
  for (const [variant, before, headers] of variants) {
    testBinding(
      `${version}, ${variant}`,
      async (handler) => {
        const app = create();
        for (const middleware of before) app.use(middleware);
        app.use("/api", toExpressHandler(handler));
        const { url, close } = await listen(app);
        return { url: `${url}/api`, close, ...(headers && { headers }) };
      },
      { errors: "host" },
    );
  }
}
