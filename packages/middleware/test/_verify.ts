import { verifyEvents } from "@ag-ui/client";
import type { BaseEvent } from "@holodeck/agui-core";
import { collect } from "@holodeck/agui-testing";
import { verifyEvents as verifyEvents0 } from "ag-ui-client-0";
import { from } from "rxjs";
import { expect } from "vitest";

/** What the verifiers of both generations of AG-UI's client think of a run. */
export async function expectVerified(events: readonly BaseEvent[]): Promise<void> {
  for (const verify of [verifyEvents, verifyEvents0]) {
    const seen = await collect(verify(false)(from(events) as never) as never);
    expect(seen).toHaveLength(events.length);
  }
}
