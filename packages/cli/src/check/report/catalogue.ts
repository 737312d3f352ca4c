// Every check of the command, in one table: data, hence longer than our usual file.
/** One thing that `holodeck check` looks at. */
export interface CheckEntry {
  readonly id: string;
  /** What a server does right, at most 44 characters. */
  readonly title: string;
  readonly rule: string;
  /** Why it was not shown, when nothing came that could have shown it. By default no run came. */
  readonly missing?: string;
}

const rows = [
  // The answer
  {
    id: "answers",
    title: "answers a run with status 200",
    rule: "A POST with a RunAgentInput is answered with status 200 and a stream.",
  },
  {
    id: "content-type",
    title: "sends text/event-stream",
    rule: "A stream of server-sent events has Content-Type text/event-stream.",
  },
  {
    id: "line-feeds",
    title: "ends lines with LF",
    rule: "Lines end with LF alone. Clients split at LF LF and find no event in CRLF or CR.",
  },
  {
    id: "frames",
    title: "frames events as `data:` and a blank line",
    rule: "An event is one or more `data:` lines and a blank line; id, retry and comments are allowed.",
  },
  {
    id: "event-field",
    title: "sends no unexpected `event:`",
    rule: "`event:` is ignored by AG-UI clients. If it is there, it is `message` or the event's type.",
  },
  {
    id: "no-done",
    title: "sends no [DONE]",
    rule: "AG-UI has no [DONE]: the terminal event is the end, and a client fails on it as bad JSON.",
  },
  {
    id: "utf-8",
    title: "sends UTF-8 intact",
    rule: "The stream is UTF-8; a character is never cut in two or replaced.",
  },
  {
    id: "json",
    title: "sends one JSON object per frame",
    rule: "The data of a frame is one JSON object with a string `type`.",
  },
  {
    id: "known-types",
    title: "sends known event types only",
    rule: "A server sends only the event types of AG-UI. Custom data is sent as CUSTOM or RAW.",
  },
  {
    id: "camel-case",
    title: "spells fields in camelCase",
    rule: "Fields on the wire are camelCase: messageId, not message_id.",
  },
  {
    id: "fields",
    title: "sends events with their fields",
    rule: "An event has its required fields with their types; an optional field is left out, never null.",
  },
  {
    id: "timestamps",
    title: "sends valid timestamps",
    rule: "A timestamp is a whole number of milliseconds since 1970.",
    missing: "No event carries a timestamp.",
  },
  // The run
  {
    id: "starts",
    title: "begins with RUN_STARTED",
    rule: "The first event is RUN_STARTED (or RUN_ERROR, if the run could not start).",
  },
  {
    id: "ids",
    title: "echoes threadId and runId",
    rule: "RUN_STARTED and RUN_FINISHED carry the threadId and runId of the request.",
  },
  {
    id: "version",
    title: "sends its protocol version",
    rule: "RUN_STARTED carries the protocolVersion of the stream, such as 1.1.",
  },
  {
    id: "one-end",
    title: "ends with exactly one terminal event",
    rule: "A run ends with one RUN_FINISHED or one RUN_ERROR, never with none or two.",
  },
  {
    id: "silent-after-end",
    title: "sends nothing after the end",
    rule: "No event of the run follows RUN_FINISHED or RUN_ERROR.",
  },
  {
    id: "closes",
    title: "closes the stream after the end",
    rule: "The server ends the body cleanly after the terminal event.",
    missing: "No run ended.",
  },
  // Parts
  {
    id: "text",
    title: "opens and closes text messages",
    rule: "TEXT_MESSAGE_START, CONTENT of an open message, END before RUN_FINISHED.",
    missing: "No text message was seen.",
  },
  {
    id: "tool-calls",
    title: "opens and closes tool calls",
    rule: "TOOL_CALL_START, ARGS of an open call, END before RUN_FINISHED.",
    missing: "No tool call was seen. A prompt that makes the agent call a tool would show it.",
  },
  {
    id: "tool-args",
    title: "sends tool arguments that are JSON",
    rule: "The deltas of a call's arguments, put together, are JSON.",
    missing: "No tool call was seen.",
  },
  {
    id: "tool-results",
    title: "sends results for calls that were made",
    rule: "TOOL_CALL_RESULT names a call of this run or of the history; pendingToolCallIds only open ones.",
    missing: "No tool result was seen.",
  },
  {
    id: "reasoning",
    title: "opens and closes reasoning",
    rule: "REASONING_START and REASONING_MESSAGE_START are closed by their ENDs before RUN_FINISHED.",
    missing: "No reasoning was seen.",
  },
  {
    id: "encrypted-values",
    title: "names the kind of encrypted values",
    rule: "encryptedValueType (AG-UI 1.1) is a string and stands beside an encryptedValue.",
    missing: "No encryptedValueType was seen.",
  },
  {
    id: "steps",
    title: "starts and finishes steps",
    rule: "STEP_STARTED once per open name; STEP_FINISHED of a started one before RUN_FINISHED.",
    missing: "No step was seen.",
  },
  {
    id: "subagents",
    title: "keeps the parts of subagents separate",
    rule: "SUBAGENT_STARTED before its end, ended before RUN_FINISHED; a part stays with its owner.",
    missing: "No subagent was seen.",
  },
  {
    id: "chunks",
    title: "begins chunks with an id",
    rule: "The first chunk carries the id, of a tool call also the name; chunks and START are not mixed.",
    missing: "No chunk was seen.",
  },
  {
    id: "state",
    title: "sends deltas that apply",
    rule: "A STATE_DELTA is an RFC 6902 patch that applies to the state as last sent.",
    missing: "No state was seen.",
  },
  {
    id: "activities",
    title: "patches activities that exist",
    rule: "An ACTIVITY_DELTA follows an ACTIVITY_SNAPSHOT of its message, and its patch applies.",
    missing: "No activity was seen.",
  },
  {
    id: "messages",
    title: "sends valid message snapshots",
    rule: "Messages of a MESSAGES_SNAPSHOT are valid, each with a unique id.",
    missing: "No MESSAGES_SNAPSHOT was seen.",
  },
  {
    id: "message-ids",
    title: "gives each message its own id",
    rule: "An id belongs to one message of a thread: clients append to the message that has it already.",
    missing: "No message was seen.",
  },
  // Errors
  {
    id: "run-error",
    title: "reports a failure as RUN_ERROR",
    rule: "A failure after the first byte is one RUN_ERROR with a message.",
    missing: "No run failed. A prompt that makes the agent fail would show it.",
  },
  {
    id: "error-leaks",
    title: "keeps internals out of RUN_ERROR",
    rule: "RUN_ERROR holds no stack frame, file path, address or credential.",
    missing: "No run failed. A prompt that makes the agent fail would show it.",
  },
  {
    id: "http-leaks",
    title: "keeps internals out of refusals",
    rule: "The body of an HTTP error holds no stack frame, file path, address or credential.",
    missing: "Nothing was refused.",
  },
  // Requests
  {
    id: "second-run",
    title: "continues the same thread",
    rule: "A second run on the thread, with its history, is answered like the first.",
  },
  {
    id: "old-clients",
    title: "sends 0.0.x clients what they read",
    rule: "Without protocolVersion in the request: no `cancelled`, no pendingToolCallIds, no content parts in results.",
  },
  {
    id: "versions",
    title: "serves clients of every 1.x",
    rule: "A run is not refused because its protocolVersion is 1.0, or a 1.x that is newer than the server.",
  },
  {
    id: "empty-deltas",
    title: "sends 0.0.x clients no empty delta",
    rule: "Clients up to 0.0.49 fail on an empty delta, so one without protocolVersion gets none.",
    missing: "No delta was seen.",
  },
  {
    id: "accept-any",
    title: "answers Accept: */* with SSE",
    rule: "curl and fetch send Accept: */* and cannot read protobuf: it is for clients that name it.",
  },
  {
    id: "protobuf",
    title: "frames protobuf correctly when asked",
    rule: "application/vnd.ag-ui.event+proto without parameters; each event after its length in 4 bytes, big-endian.",
  },
  {
    id: "snake-case",
    title: "accepts or refuses snake_case input",
    rule: "Input is camelCase. snake_case may be accepted or refused with 4xx, but not with 5xx.",
  },
  {
    id: "bad-json",
    title: "refuses malformed JSON with 4xx",
    rule: "A body that is not JSON is refused with a 4xx, before any stream.",
  },
  {
    id: "bad-input",
    title: "refuses fields of a wrong type with 4xx",
    rule: "Input whose known fields are malformed is refused with a 4xx, before any stream.",
  },
  {
    id: "missing-fields",
    title: "refuses or completes an empty input",
    rule: "Input without ids and messages is refused with a 4xx, or gets ids from the server.",
  },
  {
    id: "media-type",
    title: "refuses a body that is not JSON by its type",
    rule: "A body of another media type is refused with a 4xx (415).",
  },
  {
    id: "big-body",
    title: "survives a body of 16 MiB",
    rule: "A large body is accepted or refused with a 4xx (413); the server keeps running.",
  },
  {
    id: "survives-leaving",
    title: "survives a client that disconnects",
    rule: "Closing the connection mid-stream ends at most that run; the next request is answered.",
  },
  // On the way
  {
    id: "streams",
    title: "sends events as they are produced",
    rule: "The first event arrives before the last one is produced. Proxies: X-Accel-Buffering: no, no compression.",
    missing: "The runs were too short to measure. A prompt with a long answer would show it.",
  },
  {
    id: "compression",
    title: "streams through compression",
    rule: "A compressed stream is flushed after each event.",
  },
  {
    id: "keep-alive",
    title: "keeps idle streams alive",
    rule: "A periodic comment (`: keep-alive`) keeps proxies from closing a quiet stream.",
    missing: "No comment was seen; no run was quiet for long enough to need one.",
  },
  {
    id: "cors",
    title: "reports which pages may call it",
    rule: "Noted only: whether pages of other origins may call the endpoint.",
    missing: "OPTIONS was not answered.",
  },
] as const;

/** The name of a check. */
export type CheckId = (typeof rows)[number]["id"];

/** Every check, in the order of the table. */
export const catalogue: readonly (CheckEntry & { readonly id: CheckId })[] = rows;
