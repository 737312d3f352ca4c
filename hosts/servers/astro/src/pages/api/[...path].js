import { createApp } from "../../../app.edge.mjs";

const app = createApp("/api");

export const prerender = false;
export const ALL = ({ request }) => app.fetch(request);
