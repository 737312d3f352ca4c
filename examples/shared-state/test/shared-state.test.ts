import { clients, finished, started, text } from "@holodeck/example-shared";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { start } from "../server.ts";

let server: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  server = await start(0);
});
afterAll(() => server.close());

const pasta = {
  skill_level: "Intermediate",
  special_preferences: ["Vegetarian"],
  cooking_time: "30 min",
  ingredients: [{ icon: "🍝", name: "Pasta", amount: "500 g" }],
  instructions: ["Boil the water."],
};
const mushrooms = { icon: "🍄", name: "Mushrooms", amount: "200 g" };
const bacon = { icon: "🥓", name: "Bacon", amount: "100 g" };

function step(index: number, value: string) {
  return {
    type: "STATE_DELTA",
    delta: [{ op: "add", path: `/recipe/instructions/${index}`, value }],
  };
}

describe.for(clients)("shared state with $name", (client) => {
  test("reads the page's recipe and sends back what it changed", async () => {
    const chat = client.open(`${server.url}/agui`, { state: { recipe: pasta } });
    const events = await chat.send("Improve my recipe");
    const recipe = { ...pasta, ingredients: [...pasta.ingredients, mushrooms] };
    expect(events).toMatchObject([
      started,
      { type: "STATE_SNAPSHOT", snapshot: { recipe } },
      step(1, "Fry the mushrooms."),
      ...text("I added mushrooms."),
      finished,
    ]);
    expect(chat.contentType).toBe(client.contentType);
    expect(chat.state).toEqual({
      recipe: { ...recipe, instructions: ["Boil the water.", "Fry the mushrooms."] },
    });
    expect(chat.messages.at(-1)).toMatchObject({
      role: "assistant",
      content: "I added mushrooms.",
    });
  });

  test("takes up what the user changed between two runs", async () => {
    const chat = client.open(`${server.url}/agui`, { state: { recipe: pasta } });
    await chat.send("Improve my recipe");
    const { recipe } = chat.state as { recipe: typeof pasta };
    chat.setState({ recipe: { ...recipe, special_preferences: [], cooking_time: "45 min" } });

    const events = await chat.send("And again");
    const ingredients = [...pasta.ingredients, mushrooms, bacon];
    const edited = { ...recipe, special_preferences: [], cooking_time: "45 min", ingredients };
    expect(events).toMatchObject([
      started,
      { type: "STATE_SNAPSHOT", snapshot: { recipe: edited } },
      step(2, "Fry the bacon."),
      ...text("I added bacon."),
      finished,
    ]);
    const instructions = ["Boil the water.", "Fry the mushrooms.", "Fry the bacon."];
    expect(chat.state).toEqual({ recipe: { ...edited, instructions } });
  });

  test("begins a recipe when the page has none", async () => {
    const chat = client.open(`${server.url}/agui`);
    await chat.send("Write me a recipe");
    expect(chat.state).toMatchObject({
      recipe: { ingredients: [bacon], instructions: ["Fry the bacon."] },
    });
  });
});
