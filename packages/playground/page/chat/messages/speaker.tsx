import { chat } from "../state/instance.ts";

interface SpeakerProps {
  readonly name: string | undefined;
  readonly subagentRunId: string | undefined;
}

/** The speaker, if it is not the agent itself. */
export function Speaker({ name, subagentRunId }: SpeakerProps) {
  const step = subagentRunId && chat.steps.value.find(({ key }) => key === subagentRunId)?.name;
  const words = name ?? (step || (subagentRunId && "Subagent"));
  return words ? <p class="speaker">{words}</p> : null;
}
