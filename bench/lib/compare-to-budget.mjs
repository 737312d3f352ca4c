/** What was measured beside what is allowed, and a sentence for each that is over. */
export function compareToBudget(measured, budgets) {
  const lines = [];
  const faults = [];
  for (const [name, value] of Object.entries(measured)) {
    const { max, unit, reason } = budgets[name];
    lines.push(`${name}: ${value.toFixed(2)} ${unit}, at most ${max}`);
    if (value <= max) continue;
    faults.push(`${name} is ${value.toFixed(2)} ${unit}; at most ${max} is allowed. ${reason}`);
  }
  if (lines.length === 0) faults.push("Nothing was measured.");
  return { lines, faults };
}
