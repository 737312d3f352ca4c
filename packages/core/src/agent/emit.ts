import { emitStep, emitSubagent } from "./emit/brackets.ts";
import { EmitWriter } from "./emit/emit-writer.ts";
import type { EmitOptions } from "./emit/emit-writer.ts";
import type { Emit } from "../contract/context.ts";

/** `context.emit`: one method per kind of event that an agent sends. */
export function createEmit(options: EmitOptions): Emit {
  return toEmit(new EmitWriter(options, undefined));
}

// Own functions, so that an author may take them out of the object or wrap them.
function toEmit(writer: EmitWriter): Emit {
  return {
    text: (delta) => writer.text(delta),
    reasoning: (delta) => writer.reasoning(delta),
    message: (options) => writer.message(options),
    toolCall: ((name, args, options) => writer.toolCall(name, args, options)) as Emit["toolCall"],
    toolResult: (toolCallId, content) => writer.toolResult(toolCallId, content),
    step: (name, body) => emitStep(writer, name, body),
    activity: (type, content, options) => writer.activity(type, content, options),
    messages: (messages) => writer.messages(messages),
    predictState: (entries) => writer.custom("PredictState", entries, "emit.predictState"),
    custom: (name, value) => writer.custom(name, value, "emit.custom"),
    raw: (event, source) => writer.raw(event, source),
    subagent: (name, body, about) =>
      emitSubagent(writer, { name, body, about }, (id) =>
        toEmit(new EmitWriter(writer.options, id)),
      ),
    interrupt: (interrupt) => writer.interrupt(interrupt),
    usage: (usage) => writer.usage(usage),
    event: (event) => writer.send(event, "emit.event"),
  };
}
