import { lastUserText } from "@holodeck/agui";
import type { AgentFunction, RunAgentInput } from "@holodeck/agui";

/** Runs a tool on the server and streams call and result, which the page renders as a card. */
export const streamed: AgentFunction = async function* (input, { emit }) {
  const city = cityOf(input);
  const call = emit.toolCall("get_weather", { city });
  const weather = await getWeather(city);
  await emit.toolResult(call, weather);
  yield `It is ${weather.temperature} degrees in ${city}.`;
};

/** The same with one snapshot: for agents whose framework hands over whole messages. */
export const snapshot: AgentFunction = async (input, { emit, runId }) => {
  const city = cityOf(input);
  const id = `call-${runId}`;
  const weather = await getWeather(city);
  // A snapshot replaces what the client has, so the history comes first.
  await emit.messages([
    ...input.messages,
    {
      id: `assistant-${runId}`,
      role: "assistant",
      toolCalls: [
        {
          id,
          type: "function",
          function: { name: "get_weather", arguments: JSON.stringify({ city }) },
        },
      ],
    },
    { id: `tool-${runId}`, role: "tool", toolCallId: id, content: JSON.stringify(weather) },
  ]);
};

interface Weather {
  city: string;
  temperature: number;
  conditions: string;
  humidity: number;
  wind_speed: number;
}

// Stands for a call to a weather service.
async function getWeather(city: string): Promise<Weather> {
  return { city, temperature: 21, conditions: "sunny", humidity: 40, wind_speed: 12 };
}

function cityOf(input: RunAgentInput): string {
  return /\bin (\p{Lu}\p{L}+)/u.exec(lastUserText(input))?.[1] ?? "Berlin";
}
