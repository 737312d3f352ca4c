import type { Feature } from "../feature.ts";

const sources = ["the handbook", "the archive", "last year's notes"];

/** Activities, steps and a subagent: what an agent does besides talking. */
export const research: Feature = {
  example: "Search the archive",
  words: /\b(search|research|activity|archive|look up)\b/i,
  async answer({ context, say, pause }) {
    const { emit } = context;
    const of = sources.length;
    const id = await emit.step("search", async () => {
      const activity = emit.activity("search", {
        title: "Searching",
        status: "running",
        found: 0,
        of,
      });
      for (const [index, source] of sources.entries()) {
        await pause(250);
        await emit.event({
          type: "ACTIVITY_DELTA",
          messageId: activity,
          activityType: "search",
          patch: [
            { op: "replace", path: "/title", value: `Searching ${source}` },
            { op: "replace", path: "/found", value: index + 1 },
          ],
        });
      }
      return activity;
    });
    await emit.subagent("reader", async (reader) => {
      for (const source of sources) {
        await reader.text(`Read ${source}. `);
        await pause(150);
      }
    });
    const title = `Searched ${of} places`;
    emit.activity("search", { title, status: "done", found: of, of }, { id });
    await say("I searched three places; a second agent has read what I found.");
  },
};
