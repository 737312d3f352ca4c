import { EventType } from "@holodeck/agui-core";
import type { Chunk } from "@holodeck/agui-core";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  countSseEvents,
  encodeLog,
  exampleLogs,
  mappedKinds,
  deltasOf,
  lineLogs,
  mergedLog,
  oddLogs,
  chunkText,
} from "./_encoder-checks.ts";
import type { CreateEncoder } from "./_encoder-checks.ts";

export interface TestEncoderOptions {
  /** The kinds this protocol has no word for. Any other kind must make bytes, and these must not. */
  dropped?: readonly `${EventType}`[];
  /** Reads what the encoder made of one entry; throws when it cannot be read. */
  parse?: (chunk: Chunk) => unknown;
}

const everyLog = [...exampleLogs, ...Object.values(oddLogs), mergedLog];

/**
 * Proves that an encoder is a pure function of the log that encodes every event, or declares which
 * it does not.
 *
 * @example
 * ```ts
 * testEncoder("ndjson", () => ndjsonEncoder(), { dropped: ["RAW"] });
 * ```
 */
export function testEncoder(
  name: string,
  createEncoder: CreateEncoder,
  options: TestEncoderOptions = {},
): void {
  const { dropped = [], parse } = options;
  const isDropped = (kind: EventType): boolean => dropped.includes(kind);
  const { key, contentType } = createEncoder();

  describe(`encoder: ${name}`, () => {
    afterEach(() => {
      vi.useRealTimers();
    });

    test("declares the type of its bytes", () => {
      expect(contentType).toMatch(/^[\w.+-]+\/[\w.+-]+/);
    });

    test.for(Object.values(EventType).filter((kind) => !isDropped(kind)))(
      "has a word for %s",
      (kind) => {
        expect([...mappedKinds(createEncoder)]).toContain(kind);
      },
    );

    test.skipIf(dropped.length === 0)("drops what it declares to drop", () => {
      expect([...mappedKinds(createEncoder)].filter(isDropped)).toEqual([]);
    });

    test("returns the same for the same log, whenever and however often it is called", () => {
      for (const log of everyLog) {
        vi.useFakeTimers({ toFake: ["Date"], now: 0 });
        const [first, second] = [createEncoder(), createEncoder()];
        const head = first.open?.();
        const chunks = encodeLog(first, log);
        vi.setSystemTime(86_400_000);
        expect(second.open?.()).toEqual(head);
        expect(encodeLog(second, log)).toEqual(chunks);
        expect(second.close?.()).toEqual(first.close?.());
        expect(second.keepAlive?.(true)).toEqual(first.keepAlive?.(true));
      }
    });

    test.for(Object.keys(oddLogs))("takes %s", (kind) => {
      expect(() => encodeLog(createEncoder(), oddLogs[kind]!)).not.toThrow();
    });

    test("takes deltas that a store has merged", () => {
      const chunks = encodeLog(createEncoder(), mergedLog);
      if (!isDropped(EventType.TEXT_MESSAGE_CONTENT)) expect(chunks[2]).not.toHaveLength(0);
    });

    test("returns for several deltas at once what it returns for each", () => {
      for (const log of [mergedLog, ...lineLogs]) {
        const [one, all] = [createEncoder(), createEncoder()];
        for (const encoder of [one, all]) encodeLog(encoder, log.slice(0, -1));
        const line = log.at(-1)!;
        const deltas = deltasOf(line);
        const alone = deltas.map((delta, index) => {
          const offset = line.from + index;
          return one.encode({ from: offset, to: offset, at: 0, event: { ...line.event, delta } });
        });
        // Encoders without it are called for each delta.
        if (!all.encodeDeltas) return;
        expect(chunkText([all.encodeDeltas(line, deltas)])).toBe(chunkText(alone));
        expect(all.close?.()).toEqual(one.close?.());
      }
    });

    test.skipIf(key === undefined)("remembers nothing from one entry to the next", () => {
      for (const log of everyLog) {
        const alone = log.map((entry) => createEncoder().encode(entry));
        expect(encodeLog(createEncoder(), log)).toEqual(alone);
      }
    });

    test.skipIf(key === undefined || contentType !== "text/event-stream")(
      "makes at most one frame of an entry",
      () => {
        for (const chunk of everyLog.flatMap((log) => encodeLog(createEncoder(), log))) {
          expect(countSseEvents(chunk)).toBe(chunk.length > 0 ? 1 : 0);
        }
      },
    );

    test.skipIf(parse === undefined)("makes what its clients can read", () => {
      for (const chunk of everyLog.flatMap((log) => encodeLog(createEncoder(), log))) {
        if (chunk.length > 0) expect(() => parse!(chunk)).not.toThrow();
      }
    });
  });
}
