export { collect } from "./collect.ts";
export { eventExamples, exampleRun } from "./event-examples.ts";
export { fakeClock, settle } from "./fake-clock.ts";
export type { FakeClock } from "./fake-clock.ts";
export { mockSink } from "./mock-sink.ts";
export type { MockSink, MockSinkOptions } from "./mock-sink.ts";
export { parseDataStreamV1 } from "./parse-data-stream-v1.ts";
export type { DataStreamPart, DataStreamPartType } from "./parse-data-stream-v1.ts";
export { readEvents, readSse } from "./read-sse.ts";
export type { SseMessage, SseSource } from "./read-sse.ts";
export type { TextSource } from "./read-text.ts";
export { recordRun } from "./recorded-run.ts";
export type {
  RecordedActivity,
  RecordedRun,
  RecordedToolCall,
  RecordStart,
} from "./recorded-run.ts";
export { runAgent } from "./run-agent.ts";
export type { RunAgentOptions } from "./run-agent.ts";
export { runContext, runInput } from "./run-input.ts";
export { scriptedAgent } from "./scripted-agent.ts";
export type { ScriptOutput, Script, ScriptedAgent, ScriptStep } from "./scripted-agent.ts";
