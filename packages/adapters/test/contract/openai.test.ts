import {
  fromOpenAI,
  toOpenAIMessages,
  toOpenAITools,
  toResponseInput,
  toResponseTools,
} from "../../src/openai/index.ts";
import { loopOf } from "./_loop.ts";
import { openAIService } from "./_openai-service.ts";
import { testSubject } from "./_subject.ts";

testSubject("fromOpenAI with chat completions", async (setup) => {
  const openai = await openAIService(setup.model);
  const generate = fromOpenAI(({ messages, tools }, { signal }) =>
    openai.chat.completions.create(
      {
        model: "fake-1",
        messages: toOpenAIMessages(messages),
        ...(tools.length > 0 ? { tools: toOpenAITools(tools) } : {}),
        stream: true,
        stream_options: { include_usage: true },
      },
      { signal },
    ),
  );
  return loopOf(generate, setup.tools);
});

testSubject("fromOpenAI with responses", async (setup) => {
  const openai = await openAIService(setup.model);
  const generate = fromOpenAI(({ messages, tools }, { signal }) =>
    openai.responses.create(
      {
        model: "fake-1",
        input: toResponseInput(messages),
        tools: toResponseTools(tools),
        stream: true,
      },
      { signal },
    ),
  );
  return loopOf(generate, setup.tools);
});
