import { EventType } from "@ag-ui/core";
import { toShownText } from "../types.ts";
import type { ReadEvent, CheckReport, WireEvent } from "../types.ts";

/** What was asked for. */
export interface RequestedRun {
  readonly threadId: string;
  readonly runId: string;
}

export interface RunOrder {
  /** Whether the event belongs to a run that is under way. */
  admit(read: ReadEvent): boolean;
  finish(): void;
  /** The event that ended the run. */
  readonly terminal: WireEvent | undefined;
}

/** Watches the beginning and the end of the runs in one stream. */
export function createRunOrder(asked: RequestedRun, report: CheckReport): RunOrder {
  let isStarted = false;
  let isFirst = true;
  let isNamed = false;
  let hasAsked = false;
  let terminal: WireEvent | undefined;
  for (const id of ["starts", "one-end", "silent-after-end"] as const) report.show(id);

  function begin({ event, line }: ReadEvent): void {
    report.show("ids");
    isStarted = true;
    isNamed = true;
    terminal = undefined;
    hasAsked ||= event["runId"] === asked.runId;
    checkIds(event, line);
    const { protocolVersion: version } = event;
    if (version === undefined) return;
    if (/^\d+\.\d+$/.test(toShownText(version)))
      report.show("version", `It uses ${toShownText(version)}.`);
    else report.break("version", line);
  }

  // A stream may hold earlier runs of the thread too; whose they are shows by the runId.
  function checkIds({ threadId }: WireEvent, line: string): void {
    if (threadId !== asked.threadId) report.break("ids", line);
  }

  function end({ event, line }: ReadEvent): void {
    if (terminal) return report.break("one-end", `A second one: ${line}`);
    terminal = event;
    if (event.type !== EventType.RUN_FINISHED) return;
    checkIds(event, line);
    if (hasAsked && event["runId"] !== asked.runId) report.break("ids", line);
  }

  return {
    admit(read) {
      const { type } = read.event;
      const isEnd = type === EventType.RUN_FINISHED || type === EventType.RUN_ERROR;
      if (isFirst && type !== EventType.RUN_STARTED && type !== EventType.RUN_ERROR) {
        report.break("starts", `The first event was ${read.line}`);
        isStarted = true;
      }
      isFirst = false;
      if (type === EventType.RUN_STARTED) {
        if (isStarted && !terminal) report.break("starts", `In the middle of a run: ${read.line}`);
        begin(read);
        return true;
      }
      if (terminal && !isEnd) {
        report.break("silent-after-end", read.line);
        return false;
      }
      const isLate = terminal !== undefined;
      if (isEnd) end(read);
      return !isLate;
    },
    finish() {
      if (isFirst) return report.break("starts", "The stream held no event.");
      if (isStarted && !terminal) report.break("one-end", "The stream ended without one.");
      if (terminal && isNamed && !hasAsked) {
        report.break("ids", `No RUN_STARTED has the runId ${asked.runId}.`);
      }
    },
    get terminal() {
      return terminal;
    },
  };
}
