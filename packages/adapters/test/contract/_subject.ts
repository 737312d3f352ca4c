import { createAgentHandler } from "@holodeck/agui";
import { testAdapter } from "@holodeck/agui-testing/vitest";
import type { TestAdapterOptions } from "@holodeck/agui-testing/vitest";
import subjects from "./subjects.json" with { type: "json" };

/** Runs the contract suite; what the framework lacks is in `subjects.json`, which the docs show. */
export function testSubject(
  name: keyof typeof subjects,
  create: TestAdapterOptions["create"],
): void {
  testAdapter(name, { create, createHandler: createAgentHandler, lacks: subjects[name] });
}
