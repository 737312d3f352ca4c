import fc from "fast-check";

// The same cases on every machine, so that a change is judged by what it changed. To look for new ones:
// PROPERTY_SEED=random npm test, or PROPERTY_SEED=<the printed seed> to see one again.
const given = process.env.PROPERTY_SEED ?? "20261116";
if (given !== "random") fc.configureGlobal({ seed: Number(given) });
