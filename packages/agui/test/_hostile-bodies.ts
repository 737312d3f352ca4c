// Bodies of at most 14 MB that take long to parse, to check or to walk, for every route that takes JSON.

export interface HostileBody {
  readonly name: string;
  readonly path: string;
  readonly body: string;
  /** Besides those of a JSON body, or instead of them. */
  readonly headers?: Readonly<Record<string, string>>;
}

const MB = 1_000_000;
// Just below the default of `limits.jsonNodes`, and beyond it.
const most = 99_900;

const repeat = (text: string, count: number): string =>
  Array.from({ length: Math.floor(count) }, () => text).join(",");
const keys = (count: number, value = "1"): string =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":${value}`).join(",")}}`;
/** The members of such an object, for one that has others, too. */
const members = (count: number, value?: string): string => keys(count, value).slice(1, -1);

const user = `{"id":"u","role":"user","content":"hi"}`;
const run = (rest: string): string => `{"threadId":"t","runId":"r","context":[],${rest}}`;
const said = (text: string): string =>
  run(`"messages":[{"id":"a","role":"assistant","content":"${text}"},${user}]`);
const withState = (state: string): string => run(`"state":${state},"messages":[${user}]`);
const parts = (part: string, count: number, each = 9_000): string =>
  run(
    `"messages":[${repeat(`{"id":"u","role":"user","content":[${repeat(part, each)}]}`, count / each)}]`,
  );
const calls = (call: string, count: number): string =>
  run(
    `"messages":[${repeat(`{"id":"a","role":"assistant","toolCalls":[${repeat(call, 9_000)}]}`, count / 9_000)},${user}]`,
  );
const chat = (role: string, list: string): string =>
  `{"id":"c","messages":[{"id":"a","role":"${role}","content":"x","parts":[${list}]},${user.replace('"hi"', '"hi","parts":[{"type":"text","text":"a"}]')}]}`;
const file = (url: string): string =>
  `{"id":"c","messages":[{"id":"u","role":"user","parts":[{"type":"file","mediaType":"text/plain","url":"${url}"}]}]}`;
const v4 = (list: string): string =>
  `{"id":"c","messages":[{"id":"a","role":"assistant","content":"x","parts":[${list}]},{"role":"user","content":"hi"}]}`;

const table: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  "/agui": {
    "a text with an escape at every other character": () => said('\\"'.repeat(6.8 * MB)),
    "a text of backslashes": () => said("\\\\".repeat(6.8 * MB)),
    "a text of \\u escapes": () => said("\\u0041".repeat(2.2 * MB)),
    "a number of 13 million digits": () => withState(`{"a":${"1".repeat(13 * MB)}}`),
    "numbers of a thousand digits": () =>
      withState(`[${repeat(`0.${"1".repeat(1_000)}`, 13_000)}]`),
    "14 MB of empty objects": () => withState(`[${repeat("{}", 4.6 * MB)}]`),
    "14 MB of brackets": () => withState("[".repeat(13.5 * MB)),
    "as many empty objects as are taken, and an escape": () =>
      run(`"forwardedProps":{"p":[${repeat("{}", most)},"\\u0050"]},"messages":[${user}]`),
    "a million keys": () => withState(keys(MB)),
    "as many keys as are taken": () => withState(keys(most)),
    "as many unknown members as are taken": () => run(`"messages":[${user}],${members(most)}`),
    "as many members of a message as are taken": () =>
      run(`"messages":[{"id":"u","role":"user","content":"x",${members(most - 10)}}]`),
    "one key many times": () => withState(`{${repeat('"a":1', most)}}`),
    "objects of different shapes": () =>
      withState(
        `[${Array.from({ length: most / 3 - 2 }, (_, at) => `{"x${at}":1,"y${at}":2}`).join(",")}]`,
      ),
    "a map of context": () => `{"messages":[${user}],"context":${keys(most - 10)}}`,
    "600,000 faulty parts": () => parts('{"type":"nope"}', 600_000, 600_000),
    "as many faulty parts as are taken": () => parts('{"type":"nope"}', 45_000),
    "as many parts without content as are taken": () => parts('{"type":"binary"}', 45_000),
    "as many parts as are taken": () => parts('{"type":"text","text":"a"}', 27_000),
    "as many faulty calls as are taken": () => calls('{"id":1}', 45_000),
    "faulty tools and messages": () =>
      run(`"tools":[${repeat("5", 9_900)}],"messages":[${repeat("5", 999)}]`),
    "an envelope of many parameters": () =>
      `{"method":"agent/connect","params":${keys(most - 20, '"x"')},"body":{}}`,
  },
  "/agui/agent/default/run": {
    "faulty parts for CopilotKit": () => parts('{"type":"nope"}', 45_000),
  },
  "/agui/agent/default/connect": {
    "unknown members for CopilotKit": () => `{"threadId":"t",${members(most - 20)}}`,
  },
  "/agui/agent/default/stop/t": { "unknown members of a stop": () => keys(most - 20) },
  "/api/chat": {
    "calls of many ids": () =>
      chat(
        "assistant",
        Array.from(
          { length: most / 6.2 },
          (_, at) =>
            `{"type":"tool-x","toolCallId":"c${at}","state":"output-available","input":{},"output":1}`,
        ).join(","),
      ),
    "many thoughts": () => chat("assistant", repeat('{"type":"reasoning","text":"a"}', most / 3.1)),
    "many steps": () =>
      chat("assistant", repeat('{"type":"step-start"},{"type":"text","text":"a"}', most / 5.2)),
    "many faulty files": () => chat("user", repeat('{"type":"file","url":"x"}', most / 3.1)),
    "a data URL of text": () => file(`data:text/plain,${"a".repeat(13 * MB)}`),
    "a data URL of escapes": () => file(`data:text/plain,${"%41".repeat(4.3 * MB)}`),
    "a data URL of base64": () => file(`data:text/plain;base64,${"A".repeat(13 * MB)}`),
    "many members of a chat": () =>
      `{"id":"c","messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"a"}]}],${members(most - 20)}}`,
    "many tools of a chat": () =>
      `{"id":"c","tools":${keys(most / 3.1, '{"description":"x"}')},"messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"a"}]}]}`,
    "open calls between texts of AI SDK 4": () =>
      v4(
        repeat(
          '{"type":"tool-invocation","toolInvocation":{"state":"call","toolCallId":"c","toolName":"n","args":{}}},{"type":"text","text":"a"}',
          most / 10.2,
        ),
      ),
    "attachments of AI SDK 4": () =>
      `{"id":"c","messages":[{"role":"user","content":"hi","experimental_attachments":[${repeat('{"url":"x"}', most / 2.1)}]}]}`,
  },
  "/agent/default/chat": {
    "unknown members for REST": () => `{"message":"hi",${members(most - 20)}}`,
    "many files for REST": () => `{"message":"hi","files":[${repeat("{}", most - 20)}]}`,
    "a file of base64 for REST": () =>
      `{"message":"hi","files":[{"mime_type":"text/plain","content":"${"A".repeat(13 * MB)}"}]}`,
    "a blank message for REST": () => `{"message":"${" ".repeat(13 * MB)}"}`,
  },
  "/chat": {
    "900,000 keys of metadata": () => `{"message":"hi","metadata":${keys(900_000)}}`,
    "as many keys of metadata as are taken": () => `{"message":"hi","metadata":${keys(most - 20)}}`,
    "many faulty tools of threads": () => `{"message":"hi","tools":[${repeat("{}", most - 20)}]}`,
    "many faulty parameters of threads": () =>
      `{"message":"hi","tools":[{"name":"a","parameters":[${repeat('{"a":1}', most / 2.1)}]}]}`,
    "unknown members for threads": () => `{"message":"hi",${members(most - 20)}}`,
  },
  "/v1/chat/completions": {
    "many messages of a completion": () =>
      `{"messages":[${repeat('{"role":"user","content":"a"}', most / 3.1)}]}`,
    "many parts of a completion": () =>
      `{"messages":[{"role":"user","content":[${repeat('{"type":"text","text":"a"}', most / 3.1)}]}]}`,
    "many faulty parts of a completion": () =>
      `{"messages":[{"role":"user","content":[${repeat('{"type":"nope"}', most / 2.1)}]}]}`,
    "many calls of a completion": () =>
      `{"messages":[{"role":"assistant","tool_calls":[${repeat('{"id":"c","type":"function","function":{"name":"n","arguments":"{}"}}', most / 7.1)}]},{"role":"user","content":"a"}]}`,
    "many tools of a completion": () =>
      `{"messages":[{"role":"user","content":"a"}],"tools":[${repeat('{"type":"function","function":{"name":"n"}}', most / 4.1)}]}`,
    "many members of a completion": () =>
      `{"messages":[{"role":"user","content":"a"}],${members(most - 20)}}`,
    "a data URL of a completion": () =>
      `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:text/plain,${"%41".repeat(4.3 * MB)}"}}]}]}`,
    "a file of a completion": () =>
      `{"messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"${"A".repeat(13 * MB)}","filename":"${"a.".repeat(1_000)}"}}]}]}`,
  },
  "/v1/responses": {
    "many items of a response": () =>
      `{"input":[${repeat('{"role":"user","content":"a"}', most / 3.1)}]}`,
    "many results of a response": () =>
      `{"input":[${repeat('{"type":"function_call_output","call_id":"c","output":"a"}', most / 4.1)}]}`,
    "many references of a response": () =>
      `{"input":[${repeat('{"type":"item_reference","id":"msg_01ARZ3NDEKTSV4RRFFQ69G5FAV_0"}', 999)}]}`,
    "many thoughts of a response": () =>
      `{"input":[${repeat('{"type":"reasoning","summary":[{"type":"summary_text","text":"a"}]}', most / 6.1)}]}`,
    "many parts of a response": () =>
      `{"input":[{"role":"user","content":[${repeat('{"type":"input_text","text":"a"}', most / 3.1)}]}]}`,
    "many approvals of a response": () =>
      `{"input":[${repeat('{"type":"mcp_approval_response","approval_request_id":"a","approve":true}', 999)}]}`,
    "many members of a response": () => `{"input":"a",${members(most - 20)}}`,
    "long instructions of a response": () =>
      `{"input":"a","instructions":"${"a ".repeat(6.5 * MB)}"}`,
  },
  "/tool_result": {
    "a result of many keys": () =>
      `{"execution_id":"a","execution_time_ms":1,"result":${keys(most - 20)}}`,
  },
};

const form = { "content-type": "multipart/form-data; boundary=abc" };
const field = (name: string, value: string, more = ""): string =>
  `--abc\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const formOf = (...parts: readonly string[]): string =>
  `${field("message", "hi")}${parts.join("")}--abc--\r\n`;
const textFile = '; filename="a.txt"';

/** Forms for a route that takes files. */
const forms: Readonly<Record<string, () => string>> = {
  "a form of many fields": () => formOf(field("a", "1").repeat(200_000)),
  "a form of many empty files": () => formOf(field("files", "", textFile).repeat(150_000)),
  "a form of boundaries": () => `${"--abc\r\n".repeat(1.9 * MB)}--abc--\r\n`,
  "a form of what is almost a boundary": () =>
    formOf(field("files", "\r\n--ab".repeat(2.2 * MB), textFile)),
  "a form of hyphens": () => formOf(field("files", "\r\n--".repeat(3.3 * MB), textFile)),
  "a form of carriage returns": () => formOf(field("files", "\r".repeat(13 * MB), textFile)),
  "a form of header lines": () => `--abc\r\n${"a: b\r\n".repeat(2.2 * MB)}\r\n`,
  "a form with a long header": () => `--abc\r\ncontent-disposition: ${"a".repeat(13 * MB)}`,
  "a form with parameters": () =>
    formOf(field("files", "x", ";a=b".repeat(3 * MB)), field("files", "x", textFile)),
  "a form with quotes": () => formOf(field("files", "x", `;a="${'\\"'.repeat(6 * MB)}`)),
  "a form with an encoded name": () =>
    formOf(field("files", "x", `; filename*=UTF-8''${"%41".repeat(4 * MB)}`)),
  "a form that does not end": () => field("message", "x".repeat(13 * MB)),
  "a form of many names of prototypes": () => formOf(field("__proto__", "1").repeat(150_000)),
};

// Longer than what Node takes of all headers together.
const digits = "9".repeat(60_000);

/** Places to continue at; Node would refuse most of them, other hosts may not. */
const places: Readonly<Record<string, string>> = {
  "many digits": digits,
  "many zeros": `${"0".repeat(60_000)}1`,
  "many hyphens": "-".repeat(60_000),
  "many blanks": `a${" ".repeat(60_000)}b`,
  "many colons": ":".repeat(60_000),
  "a number with an exponent": `1e${digits}`,
  "numbers in a row": "1 ".repeat(30_000),
  "a long id and a number": `${"known:".repeat(10_000)}1`,
};

/** An ordinary body of the same size: a long text. */
export const plainBody: HostileBody = {
  name: "plain",
  path: "/agui",
  body: said("x".repeat(13.5 * MB)),
};

/** Made one by one: all of them at once are a gigabyte. */
export function* hostileBodies(): Generator<HostileBody> {
  for (const [path, bodies] of Object.entries(table)) {
    for (const [name, make] of Object.entries(bodies)) yield { name, path, body: make() };
  }
  for (const [name, make] of Object.entries(forms)) {
    yield { name, path: "/agent/default/chat", body: make(), headers: form };
  }
  for (const [name, place] of Object.entries(places)) {
    const body = `{"threadId":"known","runId":"known","messages":[]}`;
    const headers = { "last-event-id": place };
    yield { name: `a Last-Event-ID of ${name}`, path: "/agui", body, headers };
  }
}
