import { createApp } from "../../../app.edge.mjs";

const { fetch } = createApp("/api");

export const dynamic = "force-dynamic";
export { fetch as GET, fetch as POST, fetch as PATCH, fetch as DELETE };
