import type { AgentFunction } from "@holodeck/agui";

interface Recipe {
  skill_level: string;
  special_preferences: string[];
  cooking_time: string;
  ingredients: { icon: string; name: string; amount: string }[];
  instructions: string[];
}

/** Works on the same recipe as the user: reads what the page sent, sends back what it changed. */
export const sharedState: AgentFunction = async function* (input, { state }) {
  // `get` gives what the client sent; the thread's own state when it sent none.
  const { recipe = blank() } = state.get<{ recipe?: Recipe }>();
  const isVegetarian = recipe.special_preferences.includes("Vegetarian");
  const extra = isVegetarian
    ? { icon: "🍄", name: "Mushrooms", amount: "200 g" }
    : { icon: "🥓", name: "Bacon", amount: "100 g" };

  const isNew = recipe.ingredients.every(({ name }) => name !== extra.name);
  const added = {
    ...recipe,
    ingredients: isNew ? [...recipe.ingredients, extra] : recipe.ingredients,
  };
  // The first change of a run is a snapshot, so the page and the server start from the same state.
  await state.set({ recipe: added });

  await state.update<{ recipe: Recipe }>((draft) => {
    draft.recipe.instructions.push(`Fry the ${extra.name.toLowerCase()}.`);
  });
  yield isNew ? `I added ${extra.name.toLowerCase()}.` : "I only added a step.";
};

function blank(): Recipe {
  return {
    skill_level: "Beginner",
    special_preferences: [],
    cooking_time: "15 min",
    ingredients: [],
    instructions: [],
  };
}
