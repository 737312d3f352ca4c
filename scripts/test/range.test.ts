import { expect, test } from "vitest";
// @ts-expect-error -- a script without types
import { satisfies } from "../range.mjs";

test.for([
  ">=20.19",
  ">= 18",
  "*",
  "",
  "20.x",
  "20",
  "^20.0.0 || ^22.0.0 || >=24",
  ">=12 <21",
  "18 - 20",
  "~20.19.0",
  "^18.17.0 || >=20.5.0",
  ">18",
  "<=20",
])("Node 20.19.0 is inside %s", (range) => {
  expect(satisfies("20.19.0", range)).toBe(true);
});

test.for([
  ">=22",
  "^18.0.0",
  "^22.12 || ^24 || >=26",
  ">=20.20",
  "20.18.x",
  "~20.18.0",
  "<20",
  ">20",
  "14 - 18",
  ">=18 <20",
])("Node 20.19.0 is outside %s", (range) => {
  expect(satisfies("20.19.0", range)).toBe(false);
});
