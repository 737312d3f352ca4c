import { serve } from "@holodeck/agui-node";
import { createHandler } from "./agent.ts";

const { url } = await serve(await createHandler(process.env.OPENAI_API_KEY), { port: 8000 });
console.log(`AG-UI at ${url}/agui`);
